import type { Command } from 'commander';
import { removeUser } from '../accounts/remove-user.ts';
import { signOutUser } from '../accounts/sign-out-user.ts';
import { unlockUser } from '../accounts/unlock-user.ts';
import { foldLoginName } from '../names/fold-name.ts';
import { listAuditEvents } from '../storage/audit-event.ts';
import { patientRead } from '../storage/patient-read.ts';
import { findUser, listUsers, type User } from '../storage/portal-user.ts';
import { listSessionsOfUser } from '../storage/session-list.ts';
import { findAccountWait } from '../storage/throttle.ts';
import { eventRow } from './audit-commands.ts';
import { failure } from './failure.ts';
import { localTime, printFacts, printJson, printLine, printTable, printWarning } from './print.ts';
import { positiveNumber } from './read-values.ts';
import { addUserAddCommand } from './user-add-command.ts';
import { addUserExportCommand } from './user-export-command.ts';
import { addUserImportCommand } from './user-import-command.ts';
import { addUserInviteCommand } from './user-invite-command.ts';
import { addUserMergeCommand } from './user-merge-command.ts';
import { addUserPasskeysCommand } from './user-passkeys-command.ts';
import { addUserResetLinkCommand } from './user-reset-link-command.ts';
import { addUserSessionsCommand, aliveAt } from './user-sessions-command.ts';
import { addUserSetCommand } from './user-set-command.ts';
import { addUserTwoFactorCommands } from './user-two-factor-commands.ts';
import { withDatabase } from './with-database.ts';

type ListFlags = { customer?: string; limit: number; json?: true };

/** `vestibule user …` */
export function addUserCommands(program: Command): void {
  const user = program.command('user').description('the users who sign in');
  addUserAddCommand(user);
  addListCommand(user);
  addShowCommand(user);
  addUserSetCommand(user);
  addUnlockCommand(user);
  addSignOutCommand(user);
  addUserSessionsCommand(user);
  addUserInviteCommand(user);
  addUserResetLinkCommand(user);
  addUserTwoFactorCommands(user);
  addUserPasskeysCommand(user);
  addUserImportCommand(user);
  addUserExportCommand(user);
  addUserMergeCommand(user);
  addRemoveCommand(user);
}

function addListCommand(user: Command): void {
  user
    .command('list')
    .argument('[text]', 'only users whose username or email contains this')
    .description('list users')
    .option('--customer <key>', 'only users of this customer')
    .option('--limit <number>', 'maximum number', positiveNumber, 1000)
    .option('--json', 'print them as JSON')
    .action((text: string | undefined, { customer, limit, json }: ListFlags) =>
      withDatabase(async (sql) => {
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
  const yesOrNo = (value: boolean) => (value ? 'yes' : 'no');
  return [username, email, customers.join(', ') || '-', yesOrNo(active), yesOrNo(hasPassword), localTime(createdAt)];
}

function addShowCommand(user: Command): void {
  user
    .command('show')
    .argument('<name>', 'username or email')
    .description('show a user and their latest events')
    .option('--json', 'print it as JSON')
    .action((name: string, { json }: { json?: true }) =>
      withDatabase(async (sql, config) => {
        const found = await findUser(sql, foldLoginName(name));
        if (!found) throw failure(`There is no user ${name}.`);
        const now = new Date();
        const waitsUntil = await findAccountWait(sql, found.id, now);
        const sessions = (await listSessionsOfUser(sql, found.id, aliveAt(config, now))).length;
        const events = await listAuditEvents(sql, { userId: found.id, limit: 5 });
        if (json) return printJson({ ...found, sessions, waitsUntil, lastEvents: events });
        printFacts(factsOf(found, { sessions, waitsUntil }));
        if (events.length > 0) printLine('\nLatest events (all: vestibule audit --user):');
        if (events.length > 0)
          printTable(['TIME', 'EVENT', 'REASON', 'USER', 'CUSTOMER', 'ADDRESS', 'REFERENCE'], events.map(eventRow));
      }),
    );
}

function factsOf(
  user: User,
  { sessions, waitsUntil }: { sessions: number; waitsUntil: Date | null },
): [string, string][] {
  return [
    ['Username', user.username],
    ['Email', user.email],
    ['Customers', user.customers.join(', ') || 'none: cannot sign in'],
    ['Active', user.active ? 'yes' : 'no: cannot sign in'],
    ['Password', user.hasPassword ? 'set' : 'none'],
    ['Authenticator app', user.hasApp ? 'registered' : 'none'],
    ['Passkeys', String(user.passkeys)],
    ['Sessions', String(sessions)],
    ['May change password', user.mayChangePassword ? 'yes' : 'no'],
    ['Locked until', waitsUntil ? `${localTime(waitsUntil)}, or vestibule user unlock` : 'not locked'],
    ['Language', user.language ?? 'of the browser'],
    ['Added', localTime(user.createdAt)],
    ['Id', user.id],
  ];
}

function addUnlockCommand(user: Command): void {
  user
    .command('unlock')
    .argument('<name>', 'username or email')
    .description('unlock a user after too many wrong passwords or codes')
    .option('--json', 'print the outcome as JSON')
    .action((name: string, { json }: { json?: true }) =>
      withDatabase(async (sql) => {
        if (!(await unlockUser(sql, name, new Date()))) throw failure(`There is no user ${name}.`);
        if (json) printJson({ unlocked: name });
        else printLine(`User ${name} is unlocked.`);
      }),
    );
}

function addSignOutCommand(user: Command): void {
  user
    .command('sign-out')
    .argument('<name>', 'username or email')
    .description('sign a user out everywhere')
    .option('--json', 'print the outcome as JSON')
    .action((name: string, { json }: { json?: true }) =>
      withDatabase(async (sql) => {
        const sessionsEnded = await signOutUser(sql, name, new Date());
        if (sessionsEnded === null) throw failure(`There is no user ${name}.`);
        if (json) printJson({ signedOut: name, sessionsEnded });
        else printLine(`User ${name} is signed out everywhere (sessions ended: ${sessionsEnded}).`);
      }),
    );
}

function addRemoveCommand(user: Command): void {
  user
    .command('remove')
    .argument('<name>', 'username or email')
    .description('remove a user, their sessions and memberships; the audit log stays')
    .option('--json', 'print the outcome as JSON')
    .action((name: string, { json }: { json?: true }) =>
      withDatabase(async (sql) => {
        if (!(await removeUser(sql, name, new Date()))) throw failure(`There is no user ${name}.`);
        if (json) printJson({ removed: name });
        else printLine(`User ${name} removed.`);
      }),
    );
}
