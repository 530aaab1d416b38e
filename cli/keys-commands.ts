import type { Command } from 'commander';
import { withdrawHubKeys } from '#server/hub/hub-keys.ts';
import { confirm, type YesFlag, yesFlag } from './confirm.ts';
import type { JsonFlag } from './options.ts';
import { exitCodes, printJson, printLine, printOutcome, printTable, printWarning } from './print.ts';
import { byOperator, type Keyed, withKeys } from './with-database.ts';

/** `vestibule keys roll` */
export function addKeysCommands(program: Command): void {
  program
    .command('keys')
    .description('the key that signs tokens for hubs')
    .command('roll')
    .description('sign with a new key at once and withdraw all others: for a key that was copied')
    .option(...yesFlag)
    .addHelpText(
      'after',
      '\nIt is replaced by itself every 90 days. After this, a hub refuses tokens until it reads the keys again.',
    )
    .action((flags: JsonFlag & YesFlag) =>
      withKeys(async (keyed) => {
        await confirm('This withdraws every key for good, and hubs refuse tokens until they read the new one', flags);
        await withdrawHubKeys(keyed);
        printOutcome(flags.json, { rolled: true }, 'A new key signs from now on; all others are withdrawn.');
      }),
    );
}

/** `vestibule secrets …` */
export function addSecretsCommands(program: Command): void {
  program
    .command('secrets')
    .description('count what is sealed under VESTIBULE_SECRET')
    .command('renew')
    .description('reseal what lasts under the first secret of VESTIBULE_SECRET, so that the others can be removed')
    .addHelpText(
      'after',
      '\nYou can run it while the server is running, interrupt it and run it again.\ndocs/operating.md, "Change the secret", lists the steps before and after.',
    )
    .action(({ json }: JsonFlag) => withKeys((keyed) => renew(keyed, json === true)));
}

async function renew({ sql, keys }: Keyed, json: boolean): Promise<void> {
  // Code that other commands don't need is loaded on demand.
  const { renewSeals, sealProblem } = await import('#server/operations/renew-seals.ts');
  const { counts, renewed } = await renewSeals(sql, keys, byOperator());
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
  else if (!json) printLine('\nNothing sealed depends on an older secret; recovery codes created under one still do.');
  if (problem?.isLost) process.exitCode = exitCodes.refused;
}
