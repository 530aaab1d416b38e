import type { Command } from 'commander';
import { addMissingHubKeys, type HubKeyRow, listHubKeys } from '#server/hub/hub-keys.ts';
import { rollHubKeys } from '#server/hub/roll-hub-keys.ts';
import { localTime, printJson, printLine, printTable } from './print.ts';
import { type Keyed, withKeys } from './with-database.ts';

type Flags = { now?: true; json?: true };

/** `vestibule keys …`: the keys that sign tokens for hubs. */
export function addKeysCommands(program: Command): void {
  const keys = program.command('keys').description('list and replace the keys that sign tokens for hubs');
  keys
    .command('list')
    .description('list the published keys')
    .option('--json', 'print them as JSON')
    .action((flags: Flags) => withKeys((keyed) => list(keyed, flags)));
  keys
    .command('roll')
    .description(
      'publish new keys, which sign in an hour; those before stay published until their last token has ended',
    )
    .option('--now', 'sign with the new keys at once, and withdraw all others: for keys that were copied')
    .option('--json', 'print the keys as JSON')
    .addHelpText(
      'after',
      '\nThis also happens by itself every 90 days. After --now, a hub refuses tokens until it reads the keys again.',
    )
    .action((flags: Flags) => withKeys((keyed) => roll(keyed, flags)));
}

async function roll(keyed: Keyed, flags: Flags): Promise<void> {
  await addMissingHubKeys(keyed);
  const { kind, signsFrom } = await rollHubKeys(keyed, { atOnce: flags.now === true });
  await list(keyed, flags);
  if (flags.json) return;
  if (flags.now) printLine('\nThe new keys sign from now on; all others are withdrawn.');
  else if (kind === 'underWay') printLine(`\nNew keys are published already; they sign from ${localTime(signsFrom)}.`);
  else printLine(`\nThe new keys sign from ${localTime(signsFrom)}.`);
}

async function list({ sql, now }: Keyed, { json }: Flags): Promise<void> {
  const rows = await listHubKeys(sql, now());
  if (json) return printJson(rows.map(({ sealedKey: _, ...row }) => row));
  if (rows.length === 0) return printLine('There are no keys yet: the first token for a hub makes them.');
  printTable(['ID', 'ALGORITHM', 'CREATED', 'SIGNS FROM', 'PUBLISHED UNTIL'], rows.map(rowOf));
}

function rowOf({ id, algorithm, madeAt, signsFrom, endsAt }: HubKeyRow): string[] {
  const from = signsFrom < madeAt ? madeAt : signsFrom;
  return [id, algorithm, localTime(madeAt), localTime(from), endsAt ? localTime(endsAt) : ''];
}
