import type { Command } from 'commander';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { removeUser, signOutUser, unlockUser } from '#server/accounts/act-on-user.ts';
import { inviteUsers } from '#server/accounts/invite-users.ts';
import { listAuditEvents } from '#server/audit/audit-event.ts';
import { patientRead } from '#server/database/large-tables.ts';
import { hour, limits } from '#server/limits.ts';
import { outboxOf } from '#server/mail/transport.ts';
import { listUsers, type User } from '#server/people/portal-user.ts';
import { listSessionsOfUser } from '#server/sessions/end-sessions.ts';
import { issueResetLink } from '#server/sign-in/reset-link.ts';
import { findAccountWait } from '#server/throttle/throttle.ts';
import { printEventTable } from './audit-commands.ts';
import { confirm, type YesFlag, yesFlag } from './confirm.ts';
import { type JsonFlag, nameArgument, positiveNumber } from './options.ts';
import {
  failure,
  localTime,
  printFacts,
  printJson,
  printLine,
  printOutcome,
  printTable,
  printWarning,
  yesOrNo,
} from './print.ts';
import { addUserAccessCommands, aliveAt } from './user-access-commands.ts';
import { addUserChangeCommands, existingUser } from './user-change-commands.ts';
import { addUserImportCommands } from './user-import-commands.ts';
import { byOperator, type Keyed, withDatabase, withKeys } from './with-database.ts';

/** `vestibule user …` */
export function addUserCommands(program: Command): void {
  const user = program.command('user').description('the users who sign in');
  addListCommand(user);
  addShowCommand(user);
  addUserChangeCommands(user);
  addUnlockCommand(user);
  addSignOutCommand(user);
  addInviteCommand(user);
  addResetLinkCommand(user);
  addUserAccessCommands(user);
  addUserImportCommands(user);
  addRemoveCommand(user);
}

function addListCommand(user: Command): void {
  user
    .command('list')
    .argument('[text]', 'only users whose username, email or name contains this')
    .description('list users')
    .option('--customer <key>', 'only users of this customer')
    .option('--limit <number>', 'maximum number', positiveNumber, 1000)
    .action((text: string | undefined, flags: JsonFlag & { customer?: string; limit: number }) =>
      withDatabase(async (sql) => {
        const { customer, limit, json } = flags;
        const filter = { ...(text && { contains: text }), ...(customer && { customerKey: customer }) };
        const users = await patientRead(sql, (sql) => listUsers(sql, { ...filter, limit }));
        if (json) return printJson(users);
        if (users.length === 0)
          return printLine(text || customer ? 'No user matches.' : 'There are no users yet: vestibule user add --help');
        printTable(['USERNAME', 'EMAIL', 'CUSTOMERS', 'ACTIVE', 'PASSWORD', 'ADDED'], users.map(rowOf));
        if (users.length === limit) printWarning(`Only the first ${limit} are shown; --limit shows more.`);
      }),
    );
}

function rowOf({ username, email, customers, active, hasPassword, createdAt }: User): string[] {
  return [username, email, customers.join(', ') || '-', yesOrNo(active), yesOrNo(hasPassword), localTime(createdAt)];
}

function addShowCommand(user: Command): void {
  user
    .command('show')
    .argument(...nameArgument)
    .description('show a user and their latest events')
    .action((name: string, { json }: JsonFlag) =>
      withDatabase(async (sql, config) => {
        const found = await existingUser(sql, name);
        const now = new Date();
        const waitsUntil = await findAccountWait(sql, found.id, now);
        const sessions = (await listSessionsOfUser(sql, { userId: found.id }, aliveAt(config, now))).length;
        const events = await listAuditEvents(sql, { userId: found.id, limit: 5 });
        if (json) return printJson({ ...found, sessions, waitsUntil, lastEvents: events });
        printFacts([
          ['Username', found.username],
          ['Email', found.email],
          ['Name', found.name ?? 'none: shown by the username'],
          ['Customers', found.customers.join(', ') || 'none: cannot sign in'],
          ['Groups', found.groups.join(', ') || 'none'],
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
        if (events.length === 0) return;
        printLine('\nLatest events (all: vestibule audit --user):');
        printEventTable(events);
      }),
    );
}

function addUnlockCommand(user: Command): void {
  user
    .command('unlock')
    .argument(...nameArgument)
    .description('unlock a user after too many wrong passwords or codes')
    .action((name: string, { json }: JsonFlag) =>
      withDatabase(async (sql) => {
        if (!(await unlockUser(sql, name, byOperator()))) throw failure(`There is no user ${name}.`);
        printOutcome(json, { unlocked: name }, `User ${name} is unlocked.`);
      }),
    );
}

function addSignOutCommand(user: Command): void {
  user
    .command('sign-out')
    .argument(...nameArgument)
    .description('sign a user out everywhere')
    .action((name: string, { json }: JsonFlag) =>
      withDatabase(async (sql) => {
        const sessionsEnded = await signOutUser(sql, name, byOperator());
        if (sessionsEnded === null) throw failure(`There is no user ${name}.`);
        const words = `User ${name} is signed out everywhere (sessions ended: ${sessionsEnded}).`;
        printOutcome(json, { signedOut: name, sessionsEnded }, words);
      }),
    );
}

const hours = limits.invitation / hour;

function addInviteCommand(user: Command): void {
  user
    .command('invite')
    .argument('<name...>', 'usernames or emails')
    .description('email users without a password a link to choose one')
    .addHelpText(
      'after',
      `\nThe link works once, within ${hours} hours after its email was sent. Inviting somebody again replaces their link.\nIf one of them cannot be invited, nobody is. The running server sends the emails.\n\nExample:\n  vestibule user invite alice bob@acme.example`,
    )
    .action((names: string[], flags: JsonFlag) => withKeys((keyed) => runInvite(keyed, names, flags)));
}

async function runInvite({ sql, config, keys }: Keyed, names: readonly string[], { json }: JsonFlag) {
  const result = await inviteUsers(sql, keys, names, byOperator());
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

/** For the help desk, if email does not reach the user. */
function addResetLinkCommand(user: Command): void {
  user
    .command('reset-link')
    .argument(...nameArgument)
    .description('print a link for a user to choose a new password; give it to nobody else')
    .addHelpText(
      'after',
      '\nThe link works once, within an hour. The command is recorded in the audit log; the link is not stored.\n\nExample:\n  vestibule user reset-link alice',
    )
    .action((name: string, { json }: JsonFlag) =>
      withDatabase(async (sql, config) => {
        const by = byOperator();
        const result = await issueResetLink(sql, name, by);
        if (result.kind === 'notFound') throw failure(`There is no user ${name}.`);
        const { username } = result;
        if (result.kind === 'useless') throw failure(`A link would not help ${username}: ${result.problem}.`);
        const path = screenUrl(config.basePath, 'forgottenChange', { [queryNames.hash]: result.token });
        const link = config.publicUrl.origin + path;
        const endsAt = new Date(by.now.getTime() + limits.resetLink);
        printOutcome(json, { username, link, endsAt }, link);
        if (!json) printWarning(`For ${username}, once, until ${localTime(endsAt)}.`);
      }),
    );
}

function addRemoveCommand(user: Command): void {
  user
    .command('remove')
    .argument(...nameArgument)
    .description('remove a user, their sessions and memberships; the audit log stays')
    .option(...yesFlag)
    .action((name: string, flags: JsonFlag & YesFlag) =>
      withDatabase(async (sql) => {
        const { username } = await existingUser(sql, name);
        await confirm(`This removes user ${username} for good`, flags);
        await removeUser(sql, name, byOperator());
        printOutcome(flags.json, { removed: name }, `User ${name} removed.`);
      }),
    );
}
