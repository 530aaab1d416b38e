import type { Command } from 'commander';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { limits } from '../limits.ts';
import { issueResetLink } from '../password/issue-reset-link.ts';
import { failure } from './failure.ts';
import { localTime, printJson, printLine, printWarning } from './print.ts';
import { withDatabase } from './with-database.ts';

/** `vestibule user reset-link`: for the help desk, if email does not reach the user. */
export function addUserResetLinkCommand(user: Command): void {
  user
    .command('reset-link')
    .argument('<name>', 'username or email')
    .description('print a link for a user to choose a new password; give it to nobody else')
    .option('--json', 'print the link and its expiry as JSON')
    .addHelpText(
      'after',
      '\nThe link works once, within an hour. The command is recorded in the audit log; the link is not stored.\n\nExample:\n  vestibule user reset-link alice',
    )
    .action((name: string, { json }: { json?: true }) =>
      withDatabase(async (sql, config) => {
        const now = new Date();
        const result = await issueResetLink(sql, name, now);
        if (result.kind === 'notFound') throw failure(`There is no user ${name}.`);
        const { username } = result;
        if (result.kind === 'useless') throw failure(`A link would not help ${username}: ${result.problem}.`);
        const path = screenUrl(config.basePath, 'forgottenChange', { [queryNames.hash]: result.token });
        const link = config.publicUrl.origin + path;
        const endsAt = new Date(now.getTime() + limits.resetLink);
        if (json) return printJson({ username, link, endsAt });
        printLine(link);
        printWarning(`For ${username}, once, until ${localTime(endsAt)}.`);
      }),
    );
}
