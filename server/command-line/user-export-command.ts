import type { Command } from 'commander';
import { findCustomer } from '../storage/customer.ts';
import { drained } from './drained.ts';
import { exitCodes, failure } from './failure.ts';
import { printWarning } from './print.ts';
import { withKeys } from './with-keys.ts';

type Flags = { secrets?: true; customer?: string };

/** `vestibule user export` */
export function addUserExportCommand(user: Command): void {
  user
    .command('export')
    .description('write every user as JSON Lines to standard output; user import reads them')
    .option(
      '--secrets',
      'with password hashes and the secrets of authenticator apps: whoever reads them can attack both',
    )
    .option('--customer <key>', 'only users of this customer')
    .addHelpText('after', '\nExample:\n  (umask 077 && vestibule user export --secrets > users.jsonl)')
    .action((flags: Flags) => withKeys((keyed) => run(keyed, flags)));
}

async function run(
  { sql, keys }: Parameters<Parameters<typeof withKeys>[0]>[0],
  { secrets, customer }: Flags,
): Promise<void> {
  if (customer !== undefined && !(await findCustomer(sql, customer)))
    throw failure(`There is no customer ${customer}.`);
  if (secrets)
    printWarning(
      'Warning: the export holds password hashes and the secrets of authenticator apps in plain text. Store it encrypted, and delete it after use.',
    );
  // Code that other commands don't need is loaded on demand.
  const { exportUsers } = await import('../moving-in/export-users.ts');
  const lines = exportUsers(
    { sql, keys },
    {
      withSecrets: secrets === true,
      customerKey: customer ?? null,
      onUnreadable(username) {
        printWarning(`The app of ${username} is left out: it is sealed under a secret missing from VESTIBULE_SECRET.`);
        process.exitCode = exitCodes.refused;
      },
    },
  );
  for await (const line of lines) if (process.stdout.write(`${line}\n`) === false) await drained(process.stdout);
}
