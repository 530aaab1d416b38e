import type { Command } from 'commander';
import { signOutUser } from '#server/accounts/act-on-user.ts';
import { resetTwoFactor } from '#server/accounts/reset-two-factor.ts';
import { customersOfEvent } from '#server/audit/audit-events.ts';
import type { Config } from '#server/config/config.ts';
import { isUuid } from '#server/crypto/token.ts';
import { listPasskeys, providerName, removePasskey } from '#server/factors/passkey.ts';
import { listSessionsOfUser } from '#server/sessions/end-sessions.ts';
import { confirm, type YesFlag, yesFlag } from './confirm.ts';
import { nameArgument } from './options.ts';
import { type Answer, failure, localTime, tableOf, yesOrNo } from './print.ts';
import { existingUser } from './user-change-commands.ts';
import { byOperator, type Opened, onDatabase } from './with-database.ts';

/** What lets a user in: `vestibule user sessions`, `reset-two-factor` and `passkeys`. */
export function addUserAccessCommands(user: Command): void {
  user
    .command('sessions')
    .argument(...nameArgument)
    .description('list where a user is signed in, or end a session; user sign-out ends all')
    .option('--end <id>', 'end this session')
    .addHelpText('after', '\nAn ended session counts as a sign-out in its browser, and hubs with a logoutUrl are told.')
    .action(onDatabase(runSessions));
  user
    .command('reset-two-factor')
    .argument(...nameArgument)
    .description(
      'remove the app, recovery codes and remembered devices of a user, who registers again at the next sign-in',
    )
    .option(...yesFlag)
    .addHelpText('after', '\nVerify who is asking: this removes the second factor. The user is notified by email.')
    .action(onDatabase(runResetTwoFactor));
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
    .action(onDatabase(runPasskeys));
}

async function runSessions({ sql, config }: Opened, name: string, { end }: { end?: string }): Promise<Answer> {
  const { id, username } = await existingUser(sql, name);
  if (end !== undefined) {
    if (!isUuid(end) || !(await signOutUser(sql, username, byOperator(), end)))
      throw failure(`There is no session ${end} of ${username}; user sessions ${username} lists them.`);
    return { value: { sessionsEnded: 1 }, words: 'Session ended.' };
  }
  const sessions = await listSessionsOfUser(sql, { userId: id }, aliveAt(config, new Date()));
  if (sessions.length === 0) return { value: [], words: `User ${username} is signed in nowhere.` };
  const rows = sessions.map(({ id, browser, address, provider, byPasskey, signedInAt, lastSeenAt }) => {
    const way = provider ?? (byPasskey ? 'passkey' : 'password');
    return [id, browser ?? '-', address, way, localTime(signedInAt), localTime(lastSeenAt)];
  });
  return { value: sessions, words: tableOf(['ID', 'BROWSER', 'ADDRESS', 'BY', 'SIGNED IN', 'LAST USED'], rows) };
}

/** When a session was used last, at least, to be alive. */
export function aliveAt({ sessionIdle }: Pick<Config, 'sessionIdle'>, now: Date): { now: Date; idleSince: Date } {
  return { now, idleSince: new Date(now.getTime() - sessionIdle) };
}

async function runResetTwoFactor({ sql }: Opened, name: string, flags: YesFlag): Promise<Answer> {
  const { username } = await existingUser(sql, name);
  await confirm(`This removes the second factor of ${username} for good`, flags);
  const result = await resetTwoFactor(sql, name, byOperator());
  if (result?.kind !== 'removed') return { value: result, words: `User ${name} has no second factor.` };
  const ended = `sessions ended: ${result.sessionsEnded}`;
  return { value: result, words: `User ${name} no longer has a second factor; ${ended}.` };
}

async function runPasskeys({ sql }: Opened, name: string, flags: YesFlag & { remove?: string }): Promise<Answer> {
  const { remove } = flags;
  const user = await existingUser(sql, name);
  const { username } = user;
  const passkeys = await listPasskeys(sql, user.id);
  if (remove !== undefined) {
    const passkey = passkeys.find(({ id }) => id === remove);
    if (!passkey) throw failure(`There is no passkey ${remove} of ${username}; user passkeys ${username} lists them.`);
    await confirm(`This removes the passkey ${passkey.name} of ${username} for good`, flags);
    const { actor, now } = byOperator();
    const event = { actor, ...customersOfEvent(user.customers) };
    await sql.begin((sql) => removePasskey(sql, { id: remove, user }, { event }, now));
    return { value: { removed: 1 }, words: 'Passkey removed; the sessions that it opened have ended.' };
  }
  if (passkeys.length === 0) return { value: [], words: `User ${name} has no passkeys.` };
  const value = passkeys.map((passkey) => ({ ...passkey, provider: providerName(passkey.aaguid) }));
  const rows = value.map(({ id, name, provider, backedUp, madeAt, lastUsedAt }) => {
    const used = lastUsedAt ? localTime(lastUsedAt) : 'never';
    return [id, name, provider ?? '-', yesOrNo(backedUp), localTime(madeAt), used];
  });
  return { value, words: tableOf(['ID', 'NAME', 'KEPT BY', 'BACKED UP', 'ADDED', 'LAST USED'], rows) };
}
