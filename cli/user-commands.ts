import type { Command } from 'commander';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { removeUser, signOutUser, unlockUser } from '#server/accounts/act-on-user.ts';
import { inviteUsers } from '#server/accounts/invite-users.ts';
import { listAuditEvents } from '#server/audit/audit-event.ts';
import { patientRead } from '#server/database/large-tables.ts';
import { hour, limits } from '#server/limits.ts';
import { outboxOf } from '#server/mail/transport.ts';
import { listUsers } from '#server/people/portal-user.ts';
import { listSessionsOfUser } from '#server/sessions/end-sessions.ts';
import { issueResetLink } from '#server/sign-in/reset-link.ts';
import { findAccountWait } from '#server/throttle/throttle.ts';
import { eventTable } from './audit-commands.ts';
import { confirm, type YesFlag, yesFlag } from './confirm.ts';
import { nameArgument, positiveNumber } from './options.ts';
import { type Answer, factsOf, failure, localTime, tableOf, yesOrNo } from './print.ts';
import { addUserAccessCommands, aliveAt } from './user-access-commands.ts';
import { addUserChangeCommands, existingUser } from './user-change-commands.ts';
import { addUserImportCommands } from './user-import-commands.ts';
import { byOperator, type Keyed, type Opened, onDatabase, onKeys } from './with-database.ts';

const hours = limits.invitation / hour;

/** `vestibule user …` */
export function addUserCommands(program: Command): void {
  const user = program.command('user').description('the users who sign in');
  user
    .command('list')
    .argument('[text]', 'only users whose username, email or name contains this')
    .description('list users')
    .option('--customer <key>', 'only users of this customer')
    .option('--limit <number>', 'maximum number', positiveNumber, 1000)
    .action(onDatabase(runList));
  user
    .command('show')
    .argument(...nameArgument)
    .description('show a user and their latest events')
    .action(onDatabase(runShow));
  addUserChangeCommands(user);
  user
    .command('unlock')
    .argument(...nameArgument)
    .description('unlock a user after too many wrong passwords or codes')
    .action(onDatabase(runUnlock));
  user
    .command('sign-out')
    .argument(...nameArgument)
    .description('sign a user out everywhere')
    .action(onDatabase(runSignOut));
  user
    .command('invite')
    .argument('<name...>', 'usernames or emails')
    .description('email users without a password a link to choose one')
    .addHelpText(
      'after',
      `\nThe link works once, within ${hours} hours after its email was sent. Inviting somebody again replaces their link.\nIf one of them cannot be invited, nobody is. The running server sends the emails.\n\nExample:\n  vestibule user invite alice bob@acme.example`,
    )
    .action(onKeys(runInvite));
  user
    .command('reset-link')
    .argument(...nameArgument)
    .description('print a link for a user to choose a new password; give it to nobody else')
    .addHelpText(
      'after',
      '\nThe link works once, within an hour. The command is recorded in the audit log; the link is not stored.\n\nExample:\n  vestibule user reset-link alice',
    )
    .action(onDatabase(runResetLink));
  addUserAccessCommands(user);
  addUserImportCommands(user);
  user
    .command('remove')
    .argument(...nameArgument)
    .description('remove a user, their sessions and memberships; the audit log stays')
    .option(...yesFlag)
    .action(onDatabase(runRemove));
}

async function runList(
  { sql }: Opened,
  text: string | undefined,
  { customer, limit }: { customer?: string; limit: number },
): Promise<Answer> {
  const filter = { ...(text && { contains: text }), ...(customer && { customerKey: customer }) };
  const users = await patientRead(sql, (sql) => listUsers(sql, { ...filter, limit }));
  const none = text || customer ? 'No user matches.' : 'There are no users yet: vestibule user add --help';
  if (users.length === 0) return { value: users, words: none };
  const rows = users.map(({ username, email, customers, active, hasPassword, createdAt }) => {
    const states = [yesOrNo(active), yesOrNo(hasPassword), localTime(createdAt)];
    return [username, email, customers.join(', ') || '-', ...states];
  });
  const words = tableOf(['USERNAME', 'EMAIL', 'CUSTOMERS', 'ACTIVE', 'PASSWORD', 'ADDED'], rows);
  const warnings = users.length === limit ? [`Only the first ${limit} are shown; --limit shows more.`] : [];
  return { value: users, words, warnings };
}

async function runShow({ sql, config }: Opened, name: string): Promise<Answer> {
  const found = await existingUser(sql, name);
  const now = new Date();
  const waitsUntil = await findAccountWait(sql, found.id, now);
  const sessions = (await listSessionsOfUser(sql, { userId: found.id }, aliveAt(config, now))).length;
  const lastEvents = await listAuditEvents(sql, { userId: found.id, limit: 5 });
  const facts = factsOf([
    ['Username', found.username],
    ['Email', found.email],
    ['Name', found.name ?? 'none: shown by the username'],
    ['Customers', found.customers.join(', ') || 'none: cannot sign in'],
    ['Groups', found.groups.join(', ') || 'none'],
    ['Role', found.role ?? 'none'],
    ['Administers', found.administers.join(', ') || 'none'],
    ['Active', found.active ? 'yes' : 'no: cannot sign in'],
    ['Password', found.hasPassword ? 'set' : 'none'],
    ['Authenticator app', found.hasApp ? 'registered' : 'none'],
    ['Passkeys', String(found.passkeys)],
    ['Sessions', String(sessions)],
    ['May change password', yesOrNo(found.mayChangePassword)],
    ['Locked until', waitsUntil ? `${localTime(waitsUntil)}, or vestibule user unlock` : 'not locked'],
    ['Language', found.language ?? 'of the browser'],
    ['Added', localTime(found.createdAt)],
    ['Id', found.id],
  ]);
  const events = `\n\nLatest events (all: vestibule audit --user):\n${eventTable(lastEvents)}`;
  const value = { ...found, sessions, waitsUntil, lastEvents };
  return { value, words: lastEvents.length === 0 ? facts : facts + events };
}

async function runUnlock({ sql }: Opened, name: string): Promise<Answer> {
  if (!(await unlockUser(sql, name, byOperator()))) throw failure(`There is no user ${name}.`);
  return { value: { unlocked: name }, words: `User ${name} is unlocked.` };
}

async function runSignOut({ sql }: Opened, name: string): Promise<Answer> {
  const sessionsEnded = await signOutUser(sql, name, byOperator());
  if (sessionsEnded === null) throw failure(`There is no user ${name}.`);
  const words = `User ${name} is signed out everywhere (sessions ended: ${sessionsEnded}).`;
  return { value: { signedOut: name, sessionsEnded }, words };
}

async function runInvite({ sql, config, keys }: Keyed, names: readonly string[]): Promise<Answer> {
  const result = await inviteUsers(sql, keys, names, byOperator());
  if (result.kind === 'refused') {
    const words = result.refusals.map(({ name, problem }) => `User ${name} cannot be invited: ${problem}.`);
    throw failure([...words, ...(names.length > 1 ? ['Nobody was invited.'] : [])].join('\n'));
  }
  const lines = result.users.map(
    ({ username, email }) =>
      `User ${username} is invited by an email to ${email}; its link works once, within ${hours} hours.`,
  );
  const unsent = `SMTP_URL is not set: emails are written to ${outboxOf(config.dataFolder)} and are not delivered.`;
  const value = result.users.map(({ username, email }) => ({ invited: username, email }));
  return { value, words: lines.join('\n'), warnings: config.smtp ? [] : [unsent] };
}

/** For the help desk, if email does not reach the user. */
async function runResetLink({ sql, config }: Opened, name: string): Promise<Answer> {
  const by = byOperator();
  const result = await issueResetLink(sql, name, by);
  if (result.kind === 'notFound') throw failure(`There is no user ${name}.`);
  const { username } = result;
  if (result.kind === 'useless') throw failure(`A link would not help ${username}: ${result.problem}.`);
  const path = screenUrl(config.basePath, 'forgottenChange', { [queryNames.hash]: result.token });
  const link = config.publicUrl.origin + path;
  const endsAt = new Date(by.now.getTime() + limits.resetLink);
  const warning = `For ${username}, once, until ${localTime(endsAt)}.`;
  return { value: { username, link, endsAt }, words: link, warnings: [warning] };
}

async function runRemove({ sql }: Opened, name: string, flags: YesFlag): Promise<Answer> {
  const { username } = await existingUser(sql, name);
  await confirm(`This removes user ${username} for good`, flags);
  if (!(await removeUser(sql, name, byOperator()))) throw failure(`User ${username} is the last operator, and stays.`);
  return { value: { removed: name }, words: `User ${name} removed.` };
}
