import type { Command } from 'commander';
import { withdrawHubKeys } from '#server/hub/hub-keys.ts';
import { confirm, type YesFlag, yesFlag } from './confirm.ts';
import { type Answer, exitCodes, tableOf } from './print.ts';
import { byOperator, type Keyed, onKeys } from './with-database.ts';

/** `vestibule keys roll` and `vestibule secrets renew` */
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
    .action(onKeys(runRoll));
  program
    .command('secrets')
    .description('count what is sealed under VESTIBULE_SECRET')
    .command('renew')
    .description('reseal what lasts under the first secret of VESTIBULE_SECRET, so that the others can be removed')
    .addHelpText(
      'after',
      '\nYou can run it while the server is running, interrupt it and run it again.\ndocs/operating.md, "Change the secret", lists the steps before and after.',
    )
    .action(onKeys(runRenew));
}

async function runRoll(keyed: Keyed, flags: YesFlag): Promise<Answer> {
  await confirm('This withdraws every key for good, and hubs refuse tokens until they read the new one', flags);
  await withdrawHubKeys(keyed);
  return { value: { rolled: true }, words: 'A new key signs from now on; all others are withdrawn.' };
}

async function runRenew({ sql, keys }: Keyed): Promise<Answer> {
  // Code that other commands don't need is loaded on demand.
  const { renewSeals, sealProblem } = await import('#server/operations/renew-seals.ts');
  const { counts, renewed } = await renewSeals(sql, keys, byOperator());
  const rows = counts.map((count) => ({ ...count, renewed: renewed[count.what] ?? 0 }));
  const table = tableOf(
    ['WHAT', 'RESEALED', 'UNDER THE FIRST SECRET', 'UNDER AN OLDER ONE', 'UNDER NONE OF THEM'],
    rows.map(({ what, renewed, newest, older, unreadable }) => [
      what,
      ...[renewed, newest, older, unreadable].map(String),
    ]),
  );
  const problem = sealProblem(counts);
  if (problem?.isLost) process.exitCode = exitCodes.refused;
  if (problem) return { value: rows, words: table, warnings: [problem.words] };
  const done = 'Nothing sealed depends on an older secret; recovery codes created under one still do.';
  return { value: rows, words: `${table}\n\n${done}` };
}
