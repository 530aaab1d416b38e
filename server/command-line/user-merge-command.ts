import type { Command } from 'commander';
import { mergeUsers } from '../accounts/merge-users.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import type { Database } from '../storage/database.ts';
import { canAsk } from './ask-password.ts';
import { isYes } from './ask-to-go-on.ts';
import { failure } from './failure.ts';
import { printJson, printLine, printWarning } from './print.ts';
import { withDatabase } from './with-database.ts';

type Flags = { yes?: true; json?: true };

/** `vestibule user merge` */
export function addUserMergeCommand(user: Command): void {
  user
    .command('merge')
    .argument('<from>', 'username or email of the duplicate, which is removed')
    .argument('<into>', 'username or email of the user who stays')
    .description('merge a duplicate: customers, links to providers and known browsers move, its names become free')
    .option('--yes', 'skip the confirmation')
    .option('--json', 'print the outcome as JSON')
    .action((from: string, into: string, flags: Flags) => withDatabase((sql) => run(sql, from, into, flags)));
}

async function run(sql: Database, from: string, into: string, { yes, json }: Flags): Promise<void> {
  let result = await mergeUsers(sql, { from, into, isAgreed: yes === true }, new Date());
  if (result.kind === 'notAgreed') {
    printWarning(`What happens to ${result.into}:\n${inWords(result.steps)}`);
    printWarning(`User ${from} is removed, with password, passkeys, authenticator app and remembered devices.`);
    if (!canAsk()) throw failure('Nothing was changed. To go ahead, add --yes.');
    if (!(await isYes())) throw failure('Nothing was changed.');
    result = await mergeUsers(sql, { from, into, isAgreed: true }, new Date());
  }
  if (result.kind === 'notFound') throw failure(`There is no user ${result.name}.`);
  if (result.kind === 'sameUser') throw failure(`${from} and ${into} are the same user.`);
  if (json) return printJson({ merged: from, into: result.into, steps: result.steps });
  printLine(`User ${from} is merged into ${result.into}.\n${inWords(result.steps)}`);
}

function inWords(steps: readonly AuditStep[]): string {
  return steps.map(({ step, outcome }) => `  ${step}: ${outcome}`).join('\n');
}
