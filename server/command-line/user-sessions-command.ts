import { type Command, Option } from 'commander';
import { signOutUser } from '../accounts/sign-out-user.ts';
import type { Config } from '../config/config.ts';
import { foldLoginName } from '../names/fold-name.ts';
import { isUuid } from '../names/is-uuid.ts';
import type { Database } from '../storage/database.ts';
import { findUser } from '../storage/portal-user.ts';
import { listSessionsOfUser, type SessionOfUser } from '../storage/session-list.ts';
import { failure } from './failure.ts';
import { localTime, printJson, printLine, printTable } from './print.ts';
import { withDatabase } from './with-database.ts';

type Flags = { end?: string; endAll?: true; json?: true };

/** `vestibule user sessions` */
export function addUserSessionsCommand(user: Command): void {
  user
    .command('sessions')
    .argument('<name>', 'username or email')
    .description('list where a user is signed in, or sign them out')
    .addOption(new Option('--end <id>', 'end this session').conflicts('endAll'))
    .option('--end-all', 'end every session, those that wait for a second factor too')
    .option('--json', 'print them as JSON')
    .addHelpText('after', '\nAn ended session counts as a sign-out in its browser, and hubs with a logoutUrl are told.')
    .action((name: string, flags: Flags) => withDatabase((sql, config) => run(sql, config, name, flags)));
}

async function run(sql: Database, config: Config, name: string, { end, endAll, json }: Flags): Promise<void> {
  const user = await findUser(sql, foldLoginName(name));
  if (!user) throw failure(`There is no user ${name}.`);
  const { username } = user;
  const now = new Date();
  if (end !== undefined || endAll) {
    if (end !== undefined && !isUuid(end))
      throw failure(`--end: ${end} is not the id of a session; vestibule user sessions ${username} lists them.`);
    const sessionsEnded = await signOutUser(sql, username, now, end ?? null);
    if (sessionsEnded === null) throw failure(`There is no user ${name}.`);
    if (end !== undefined && sessionsEnded === 0) throw failure(`There is no session ${end} of ${username}.`);
    return json ? printJson({ sessionsEnded }) : printLine(`Sessions ended: ${sessionsEnded}.`);
  }
  const sessions = await listSessionsOfUser(sql, user.id, aliveAt(config, now));
  if (json) return printJson(sessions);
  if (sessions.length === 0) return printLine(`User ${username} is signed in nowhere.`);
  printTable(['ID', 'BROWSER', 'ADDRESS', 'BY', 'SIGNED IN', 'LAST USED'], sessions.map(rowOf));
}

/** When a session was used last, at least, to be alive. */
export function aliveAt({ sessionIdle }: Pick<Config, 'sessionIdle'>, now: Date): { now: Date; idleSince: Date } {
  return { now, idleSince: new Date(now.getTime() - sessionIdle) };
}

function rowOf({ sid, browser, address, provider, byPasskey, signedInAt, lastSeenAt }: SessionOfUser): string[] {
  const way = provider ?? (byPasskey ? 'passkey' : 'password');
  return [sid, browser ?? '-', address, way, localTime(signedInAt), localTime(lastSeenAt)];
}
