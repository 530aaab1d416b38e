import type { Command } from 'commander';
import { hour, limits } from '../limits.ts';
import { outboxOf } from '../mail/outbox.ts';
import { inviteUsers } from '../password/invite-users.ts';
import { failure } from './failure.ts';
import { printJson, printLine, printWarning } from './print.ts';
import { type Keyed, withKeys } from './with-keys.ts';

const hours = limits.invitation / hour;

/** `vestibule user invite`: for users who have no password yet. */
export function addUserInviteCommand(user: Command): void {
  user
    .command('invite')
    .argument('<name...>', 'usernames or emails')
    .description('email users without a password a link to choose one')
    .option('--json', 'print who was invited as JSON')
    .addHelpText(
      'after',
      `\nThe link works once, within ${hours} hours after its email was sent. Inviting somebody again replaces their link.\nIf one of them cannot be invited, nobody is. The running server sends the emails.\n\nExample:\n  vestibule user invite alice bob@acme.example`,
    )
    .action((names: string[], { json }: { json?: true }) => withKeys((keyed) => run(keyed, names, json === true)));
}

async function run({ sql, config, keys, now }: Keyed, names: readonly string[], json: boolean): Promise<void> {
  const result = await inviteUsers(sql, { keys, rpId: config.passkeys?.id ?? null }, names, now());
  if (result.kind === 'refused') {
    const words = result.refusals.map(({ name, problem }) => `User ${name} cannot be invited: ${problem}.`);
    throw failure([...words, ...(names.length > 1 ? ['Nobody was invited.'] : [])].join('\n'));
  }
  if (json) printJson(result.users.map(({ username, email }) => ({ invited: username, email })));
  else
    for (const { username, email } of result.users)
      printLine(`User ${username} is invited by an email to ${email}; its link works once, within ${hours} hours.`);
  if (!config.smtp)
    printWarning(`SMTP_URL is not set: emails are written to ${outboxOf(config.dataFolder)} and are not delivered.`);
}
