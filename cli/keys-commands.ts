import type { Command } from 'commander';
import { addMissingHubKey, type HubKeyRow, listHubKeys } from '#server/hub/hub-keys.ts';
import { rollHubKeys } from '#server/hub/roll-hub-keys.ts';
import { exitCodes, localTime, printJson, printLine, printTable, printWarning } from './print.ts';
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
  await addMissingHubKey(keyed);
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
  printTable(['ID', 'CREATED', 'SIGNS FROM', 'PUBLISHED UNTIL'], rows.map(rowOf));
}

function rowOf({ id, madeAt, signsFrom, endsAt }: HubKeyRow): string[] {
  const from = signsFrom < madeAt ? madeAt : signsFrom;
  return [id, localTime(madeAt), localTime(from), endsAt ? localTime(endsAt) : ''];
}

/** `vestibule secrets …` */
export function addSecretsCommands(program: Command): void {
  program
    .command('secrets')
    .description('count what is sealed under VESTIBULE_SECRET')
    .command('renew')
    .description('reseal what lasts under the first secret of VESTIBULE_SECRET, so that the others can be removed')
    .option('--json', 'print the counts as JSON')
    .addHelpText(
      'after',
      '\nYou can run it while the server is running, interrupt it and run it again.\ndocs/operating.md, "Change the secret", lists the steps before and after.',
    )
    .action(({ json }: { json?: true }) => withKeys((keyed) => renew(keyed, json === true)));
}

async function renew({ sql, keys, now }: Keyed, json: boolean): Promise<void> {
  // Code that other commands don't need is loaded on demand.
  const { renewSeals, sealProblem } = await import('#server/operations/renew-seals.ts');
  const { counts, renewed } = await renewSeals(sql, keys, now());
  const rows = counts.map((count) => ({ ...count, renewed: renewed[count.what] ?? 0 }));
  if (json) printJson(rows);
  else
    printTable(
      ['WHAT', 'RESEALED', 'UNDER THE FIRST SECRET', 'UNDER AN OLDER ONE', 'UNDER NONE OF THEM'],
      rows.map(({ what, renewed, newest, older, unreadable }) => [
        what,
        ...[renewed, newest, older, unreadable].map(String),
      ]),
    );
  const problem = sealProblem(counts);
  if (problem) printWarning(problem.words);
  else if (!json)
    printLine(
      keys.seal.length === 1
        ? '\nEverything is sealed under the only secret.'
        : '\nNothing sealed depends on an older secret any more; recovery codes created under one still do.',
    );
  if (problem?.isLost) process.exitCode = exitCodes.refused;
}
