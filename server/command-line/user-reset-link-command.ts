import type { Command } from 'commander';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { foldLoginName } from '../accounts/fold-name.ts';
import type { Config } from '../config.ts';
import { limits } from '../limits.ts';
import { makeResetToken } from '../password/reset-token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/database.ts';
import { findUserForUpdate, type User } from '../storage/portal-user.ts';
import { failure } from './failure.ts';
import { localTime, printJson, printLine, printWarning } from './print.ts';
import { withDatabase } from './with-database.ts';

/** `vestibule user reset-link`: for the help desk, if email does not reach the user. */
export function addUserResetLinkCommand(user: Command): void {
  user
    .command('reset-link')
    .argument('<name>', 'username or e-mail')
    .description('print a link by which a user chooses a new password; give it to nobody else')
    .option('--json', 'print the link and its end as JSON')
    .addHelpText(
      'after',
      '\nThe link works once and for an hour. The command is recorded; the link itself is kept nowhere.\n\nExample:\n  vestibule user reset-link alice',
    )
    .action((name: string, { json }: { json?: true }) =>
      withDatabase(async (sql, config) => {
        const now = new Date();
        const made = await makeLink(sql, config, name, now);
        const endsAt = new Date(now.getTime() + limits.resetLink);
        if (json) return printJson({ ...made, endsAt });
        printLine(made.link);
        printWarning(`For ${made.username}, once, until ${localTime(endsAt)}.`);
      }),
    );
}

async function makeLink(
  sql: Database,
  config: Config,
  name: string,
  now: Date,
): Promise<{ username: string; link: string }> {
  return await sql.begin(async (sql) => {
    const user = await findUserForUpdate(sql, foldLoginName(name));
    if (!user) throw failure('refused', `There is no user ${name}.`);
    const problem = problemOf(user);
    if (problem) throw failure('refused', `The link would not help ${user.username}: ${problem}.`);
    const token = await makeResetToken(sql, user.id, now);
    await insertAuditEvent(sql, { event: 'reset-link-made', userId: user.id, username: user.username }, now);
    const path = screenUrl(config.basePath, 'forgottenChange', { [queryNames.hash]: token });
    return { username: user.username, link: config.publicUrl.origin + path };
  });
}

/** Why a change by link would be refused. */
function problemOf({ active, mayChangePassword, customers }: User): string | null {
  if (!active) return 'the user is inactive';
  if (!mayChangePassword) return 'the user may not change the password';
  return customers.length === 0 ? 'the user has no customer' : null;
}
