import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { generateSync } from 'otplib';
import { keysOf, seal, secretsOfDataFolder } from '#server/crypto/keys.ts';
import { newToken, tokenHash } from '#server/crypto/token.ts';
import type { Database } from '#server/database/database.ts';
import { deleteInParts } from '#server/database/large-tables.ts';
import { totpPlace } from '#server/factors/registration.ts';
import { newTotpSecret } from '#server/factors/totp.ts';
import { median, report, timed } from '../figures.ts';
import { formHeaders, postSignIn } from '../people.ts';
import { program, root } from '../servers.ts';
import type { Size } from './fill.ts';

/** A portal on a database of some size. */
export type Installation = { dataFolder: string; origin: string; sql: Database; size: Size };

/** What people and operators do; `turn` differs each time. `prepare` returns it, ready to be timed. Throws if it fails. */
type Operation = {
  name: string;
  samples: number;
  prepare: (installation: Installation, turn: number) => Promise<() => Promise<unknown>>;
};

/** An operation that needs nothing beforehand. */
const plain = (
  name: string,
  samples: number,
  run: (installation: Installation, turn: number) => Promise<unknown>,
): Operation => ({ name, samples, prepare: async (installation, turn) => () => run(installation, turn) });

/** Users that are far apart, so that each reads other pages of the database. */
const userOf = ({ size }: Installation, turn: number) => `user-${(turn * 7919) % size.users}`;

const run = promisify(execFile);

/** Finding nothing is an answer, too, with the exit code 1. */
const command = (
  name: string,
  words: (installation: Installation, turn: number) => string[],
  exitCode = 0,
): Operation =>
  plain(`vestibule ${name}`, 7, async (installation, turn) => {
    const ended = run(process.execPath, [...program, ...words(installation, turn)], {
      cwd: root,
      env: { ...process.env, VESTIBULE_DATA: installation.dataFolder },
      maxBuffer: 1e8,
    });
    const code = await ended.then(
      () => 0,
      (error: { code?: unknown }) => error.code,
    );
    if (code !== exitCode) throw new Error(`vestibule ${name} ended with ${code}`);
  });

const asked = async (expected: number, answer: Promise<Response>) => {
  const { status } = await answer;
  if (status !== expected) throw new Error(`answered ${status} instead of ${expected}`);
};

export const operations: readonly Operation[] = [
  plain('a sign-in', 60, (installation, turn) =>
    asked(303, postSignIn(installation.origin, userOf(installation, turn))),
  ),
  {
    name: 'a right code',
    samples: 60,
    prepare: async (installation, turn) => {
      const { sql, dataFolder, origin } = installation;
      const waiting = await signInThatWaits(sql, dataFolder, userOf(installation, turn));
      return () => sendCode(origin, waiting);
    },
  },
  plain('a session check', 300, ({ origin, size }, turn) => {
    const cookie = `vestibule-session=${String((turn * 7919) % size.sessions).padStart(43, 's')}`;
    return asked(200, fetch(`${origin}/portal/session`, { headers: { cookie } }));
  }),
  plain('a request for a reset link', 60, (installation, turn) =>
    asked(
      204,
      fetch(`${installation.origin}/portal/password/forgotten`, {
        method: 'POST',
        headers: formHeaders,
        body: `username=${userOf(installation, turn)}%40acme.test`,
        redirect: 'manual',
      }),
    ),
  ),
  command('user show', (installation, turn) => ['user', 'show', userOf(installation, turn)]),
  command('user list', () => ['user', 'list']),
  command('user list TEXT', (installation, turn) => ['user', 'list', userOf(installation, turn)]),
  command('user list --customer', () => ['user', 'list', '--customer', 'customer-1']),
  command('audit', () => ['audit']),
  command('audit --user', (installation, turn) => ['audit', '--user', userOf(installation, turn)]),
  command('audit --event (a rare one)', () => ['audit', '--event', 'mail-given-up']),
  command('audit --event (a rare one) --since 7d', () => ['audit', '--event', 'mail-given-up', '--since', '7d']),
  command('audit --since 7d', () => ['audit', '--since', '7d']),
  command('explain', ({ size }, turn) => {
    const reference = String(((turn * 7919) % (size.events / 10)) * 10).padStart(8, '0');
    return ['explain', `${reference.slice(0, 4)}-${reference.slice(4)}`];
  }),
  command('explain (by the id of a request that no event has)', () => ['explain', 'FFFF-FFFF'], 1),
];

/** Each operation on a small installation and on a large one, alternately, after one of each to warm up. */
export async function measureOperations(small: Installation, large: Installation): Promise<void> {
  for (const { name, samples, prepare } of operations) {
    const times = { small: [] as number[], large: [] as number[] };
    for (let turn = 0; turn <= samples; turn += 1)
      for (const [size, installation] of [
        ['small', small],
        ['large', large],
      ] as const) {
        const run = await prepare(installation, turn);
        const time = await timed(run);
        if (turn > 0) times[size].push(time);
      }
    const [few, many] = [median(times.small), median(times.large)];
    const ratio = many / few;
    const figure = `${ratio.toFixed(2)} of the small one (${many.toFixed(1)} to ${few.toFixed(1)} ms)`;
    report(`${name}, large installation`, figure, '0.80 to 1.20', ratio >= 0.8 && ratio <= 1.2);
  }
}

const day = 86_400_000;

/** What housekeeping deletes at most: the events of many days, when fewer are kept from now on, and everybody's session. */
export async function measureUpkeep({ sql }: Installation): Promise<void> {
  const before = new Date(Date.now() - 80 * day);
  await measure('deleting the events of ten days', () => deleteInParts(sql, 'audit_event', sql`at < ${before}`));
  await measure('deleting all sessions', () => deleteInParts(sql, 'session', sql`true`));
}

async function measure(what: string, work: () => Promise<number>): Promise<void> {
  const started = performance.now();
  const done = await work().catch((error: Error) => error.message);
  const seconds = (performance.now() - started) / 1000;
  report(what, `${done} in ${seconds.toFixed(1)} s`, 'done', typeof done === 'number');
}

/** A sign-in that waits for the code of an app; `codeNow` gives the one of this moment. */
type SignInThatWaits = { cookie: string; codeNow: () => string };

/** Gives a user a new app, and begins a sign-in that waits for its code. */
async function signInThatWaits(sql: Database, dataFolder: string, username: string): Promise<SignInThatWaits> {
  const [user] = await sql<{ id: string }[]>`select id from portal_user where username = ${username}`;
  if (!user) throw new Error(`no user ${username}`);
  const secret = newTotpSecret();
  const { seal: keys } = keysOf(await secretsOfDataFolder(dataFolder));
  const sealed = seal(keys, secret, totpPlace(user.id));
  const token = newToken();
  const now = new Date();
  await sql`
    insert into totp (user_id, sealed_secret, last_step, confirmed_at) values (${user.id}, ${sealed}, 0, ${now})
    on conflict (user_id) do update set sealed_secret = ${sealed}, last_step = 0`;
  await sql`
    insert into session (token_hash, user_id, stage, waits_for, customer_ids, address, created_at, last_seen_at, ends_at)
    select ${tokenHash(token)}, ${user.id}, 'half', array['app'], array(select customer_id from membership where user_id = ${user.id}),
      '127.0.0.1', ${now}, ${now}, ${new Date(now.getTime() + 60_000)}`;
  return {
    cookie: `vestibule-session=${token}`,
    codeNow: () => generateSync({ secret, epoch: Math.floor(Date.now() / 1000) }),
  };
}

/** Posts the code of a sign-in that waits for it. Throws unless it is right. */
async function sendCode(origin: string, { cookie, codeNow }: SignInThatWaits): Promise<void> {
  const answer = await fetch(`${origin}/portal/two-factor-authentication/verify`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify(codeNow()),
  });
  const text = await answer.text();
  if (text !== 'true') throw new Error(`unexpected answer: ${text}`);
}
