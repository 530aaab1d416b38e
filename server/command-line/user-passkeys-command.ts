import type { Command } from 'commander';
import { foldLoginName } from '../names/fold-name.ts';
import { isUuid } from '../names/is-uuid.ts';
import { providerName } from '../passkeys/provider-name.ts';
import { removePasskey } from '../passkeys/remove-passkey.ts';
import type { Database } from '../storage/database.ts';
import { listPasskeys, type Passkey } from '../storage/passkey.ts';
import { findUser } from '../storage/portal-user.ts';
import { failure } from './failure.ts';
import { localTime, printJson, printLine, printTable } from './print.ts';
import { withDatabase } from './with-database.ts';

type Flags = { remove?: string; json?: true };

/** `vestibule user passkeys` */
export function addUserPasskeysCommand(user: Command): void {
  user
    .command('passkeys')
    .argument('<name>', 'username or email')
    .description('list the passkeys of a user, or remove one')
    .option('--remove <id>', 'remove this passkey')
    .option('--json', 'print them as JSON')
    .addHelpText(
      'after',
      '\nA removed passkey signs in no more, and the sessions that it opened end; the user is notified by email.',
    )
    .action((name: string, flags: Flags) => withDatabase((sql) => run(sql, name, flags)));
}

async function run(sql: Database, name: string, { remove, json }: Flags): Promise<void> {
  const user = await findUser(sql, foldLoginName(name));
  if (!user) throw failure(`There is no user ${name}.`);
  const { username } = user;
  if (remove !== undefined) {
    if (!isUuid(remove))
      throw failure(`--remove: ${remove} is not the id of a passkey; vestibule user passkeys ${username} lists them.`);
    if (!(await sql.begin((sql) => removePasskey(sql, { id: remove, user }, {}, new Date()))))
      throw failure(`There is no passkey ${remove} of ${username}.`);
    return json ? printJson({ removed: 1 }) : printLine('Passkey removed; the sessions that it opened have ended.');
  }
  const passkeys = await listPasskeys(sql, user.id);
  if (json) return printJson(passkeys.map((passkey) => ({ ...passkey, provider: providerName(passkey.aaguid) })));
  if (passkeys.length === 0) return printLine(`User ${name} has no passkeys.`);
  printTable(['ID', 'NAME', 'KEPT BY', 'BACKED UP', 'ADDED', 'LAST USED'], passkeys.map(rowOf));
}

function rowOf({ id, name, aaguid, backedUp, madeAt, lastUsedAt }: Passkey): string[] {
  const used = lastUsedAt ? localTime(lastUsedAt) : 'never';
  return [id, name, providerName(aaguid) ?? '-', backedUp ? 'yes' : 'no', localTime(madeAt), used];
}
