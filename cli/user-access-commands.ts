import type { Command } from 'commander';
import { resetTwoFactor, signOutUser } from '#server/accounts/act-on-user.ts';
import type { Config } from '#server/config/config.ts';
import { isUuid } from '#server/crypto/token.ts';
import type { Database } from '#server/database/database.ts';
import { listPasskeys, providerName, removePasskey } from '#server/factors/passkey.ts';
import { listSessionsOfUser } from '#server/sessions/end-sessions.ts';
import { confirm, type YesFlag, yesFlag } from './confirm.ts';
import { type JsonFlag, nameArgument } from './options.ts';
import { failure, localTime, printJson, printLine, printOutcome, printTable, yesOrNo } from './print.ts';
import { existingUser } from './user-change-commands.ts';
import { byOperator, withDatabase } from './with-database.ts';

type SessionFlags = JsonFlag & { end?: string };
type PasskeyFlags = JsonFlag & YesFlag & { remove?: string };

/** What lets a user in: `vestibule user sessions`, `reset-two-factor` and `passkeys`. */
export function addUserAccessCommands(user: Command): void {
  user
    .command('sessions')
    .argument(...nameArgument)
    .description('list where a user is signed in, or end a session; user sign-out ends all')
    .option('--end <id>', 'end this session')
    .addHelpText('after', '\nAn ended session counts as a sign-out in its browser, and hubs with a logoutUrl are told.')
    .action((name: string, flags: SessionFlags) =>
      withDatabase((sql, config) => runSessions(sql, config, name, flags)),
    );
  user
    .command('reset-two-factor')
    .argument(...nameArgument)
    .description(
      'remove the app, recovery codes and remembered devices of a user, who registers again at the next sign-in',
    )
    .option(...yesFlag)
    .addHelpText('after', '\nVerify who is asking: this removes the second factor. The user is notified by email.')
    .action((name: string, flags: JsonFlag & YesFlag) =>
      withDatabase(async (sql) => {
        const { json } = flags;
        const { username } = await existingUser(sql, name);
        await confirm(`This removes the second factor of ${username} for good`, flags);
        const result = await resetTwoFactor(sql, name, byOperator());
        if (result.kind === 'notFound') throw failure(`There is no user ${name}.`);
        if (result.kind === 'nothing') return printOutcome(json, result, `User ${name} has no second factor.`);
        const ended = `sessions ended: ${result.sessionsEnded}`;
        printOutcome(json, result, `User ${name} no longer has a second factor; ${ended}.`);
      }),
    );
  user
    .command('passkeys')
    .argument(...nameArgument)
    .description('list the passkeys of a user, or remove one')
    .option('--remove <id>', 'remove this passkey')
    .option(...yesFlag)
    .addHelpText(
      'after',
      '\nA removed passkey signs in no more, and the sessions that it opened end; the user is notified by email.',
    )
    .action((name: string, flags: PasskeyFlags) => withDatabase((sql) => runPasskeys(sql, name, flags)));
}

async function runSessions(sql: Database, config: Config, name: string, { end, json }: SessionFlags) {
  const { id, username } = await existingUser(sql, name);
  const now = new Date();
  if (end !== undefined) {
    if (!isUuid(end) || !(await signOutUser(sql, username, byOperator(), end)))
      throw failure(`There is no session ${end} of ${username}; user sessions ${username} lists them.`);
    return printOutcome(json, { sessionsEnded: 1 }, 'Session ended.');
  }
  const sessions = await listSessionsOfUser(sql, { userId: id }, aliveAt(config, now));
  if (json) return printJson(sessions);
  if (sessions.length === 0) return printLine(`User ${username} is signed in nowhere.`);
  printTable(
    ['ID', 'BROWSER', 'ADDRESS', 'BY', 'SIGNED IN', 'LAST USED'],
    sessions.map(({ id, browser, address, provider, byPasskey, signedInAt, lastSeenAt }) => {
      const way = provider ?? (byPasskey ? 'passkey' : 'password');
      return [id, browser ?? '-', address, way, localTime(signedInAt), localTime(lastSeenAt)];
    }),
  );
}

/** When a session was used last, at least, to be alive. */
export function aliveAt({ sessionIdle }: Pick<Config, 'sessionIdle'>, now: Date): { now: Date; idleSince: Date } {
  return { now, idleSince: new Date(now.getTime() - sessionIdle) };
}

async function runPasskeys(sql: Database, name: string, flags: PasskeyFlags): Promise<void> {
  const { remove, json } = flags;
  const user = await existingUser(sql, name);
  const { username } = user;
  const passkeys = await listPasskeys(sql, user.id);
  if (remove !== undefined) {
    const passkey = passkeys.find(({ id }) => id === remove);
    if (!passkey) throw failure(`There is no passkey ${remove} of ${username}; user passkeys ${username} lists them.`);
    await confirm(`This removes the passkey ${passkey.name} of ${username} for good`, flags);
    const { actor, now } = byOperator();
    await sql.begin((sql) => removePasskey(sql, { id: remove, user }, { event: { actor } }, now));
    return printOutcome(json, { removed: 1 }, 'Passkey removed; the sessions that it opened have ended.');
  }
  if (json) return printJson(passkeys.map((passkey) => ({ ...passkey, provider: providerName(passkey.aaguid) })));
  if (passkeys.length === 0) return printLine(`User ${name} has no passkeys.`);
  printTable(
    ['ID', 'NAME', 'KEPT BY', 'BACKED UP', 'ADDED', 'LAST USED'],
    passkeys.map(({ id, name, aaguid, backedUp, madeAt, lastUsedAt }) => {
      const used = lastUsedAt ? localTime(lastUsedAt) : 'never';
      return [id, name, providerName(aaguid) ?? '-', yesOrNo(backedUp), localTime(madeAt), used];
    }),
  );
}
