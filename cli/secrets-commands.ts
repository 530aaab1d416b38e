import type { Command } from 'commander';
import { exitCodes } from './failure.ts';
import { printJson, printLine, printTable, printWarning } from './print.ts';
import { type Keyed, withKeys } from './with-database.ts';

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
    .action(({ json }: { json?: true }) => withKeys((keyed) => run(keyed, json === true)));
}

async function run({ sql, keys, now }: Keyed, json: boolean): Promise<void> {
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
