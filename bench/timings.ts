import type { Database } from '#server/database/database.ts';
import { mannWhitneyP, median, report, timed } from './figures.ts';
import type { RunningServer } from './servers.ts';
import { formHeaders, password, postSignIn } from './sign-in-form.ts';

const samplesEach = 300;

/** Every kind of refusal that must be indistinguishable (EN-02): the name and the password to try. */
const refusals = {
  'wrong password': ['user-1', 'not this one'],
  unknown: ['nobody', 'not this one'],
  inactive: ['inactive', password],
  'no customer': ['homeless', password],
  locked: ['user-2', password],
  'no password': ['sso-only', 'not this one'],
} as const;

/** Times 300 of each kind of refusal, interleaved, and looks for a distinguishable pair. */
export async function measureTimings({ origin }: RunningServer, sql: Database): Promise<void> {
  await tellApart('refusals told apart by time', Object.keys(refusals) as (keyof typeof refusals)[], async (kind) => {
    const [username, typedPassword] = refusals[kind];
    await forgetFailures(sql);
    // Runs before each sample, so that the database has always done the same work.
    await lock(sql, refusals.locked[0]);
    return await timed(async () => await (await postSignIn(origin, username, typedPassword)).arrayBuffer());
  });
}

/** Every kind of account for which a link can be requested (EN-05). */
const forgetful = { known: 'user-1', unknown: 'nobody', inactive: 'inactive', 'single sign-on': 'managed' } as const;

/** Times 300 requests for a link for each kind of account, interleaved, and looks for a distinguishable pair. */
export async function measureForgotten({ origin }: RunningServer, sql: Database): Promise<void> {
  const kinds = Object.keys(forgetful) as (keyof typeof forgetful)[];
  await tellApart('requests for a link told apart by time', kinds, async (kind) => {
    await forgetFailures(sql);
    await sql`delete from reset_link`;
    const form = new URLSearchParams({ username: `${forgetful[kind]}@acme.test` });
    const post = { method: 'POST', headers: formHeaders, body: form.toString() };
    return await timed(async () => await (await fetch(`${origin}/portal/password/forgotten`, post)).arrayBuffer());
  });
}

/** Samples each kind alternately, and reports the most distinguishable pair. */
async function tellApart<Kind extends string>(
  what: string,
  kinds: readonly Kind[],
  sampleOf: (kind: Kind) => Promise<number>,
): Promise<void> {
  const times = new Map(kinds.map((kind) => [kind, [] as number[]]));
  for (let sample = 0; sample < samplesEach; sample += 1)
    for (const kind of shuffled(kinds)) times.get(kind)?.push(await sampleOf(kind));
  const pairs = kinds.flatMap((one, index) => kinds.slice(index + 1).map((other) => [one, other] as const));
  const judged = pairs.map(([one, other]) => ({
    one,
    other,
    p: mannWhitneyP(times.get(one) ?? [], times.get(other) ?? []),
  }));
  const worst = judged.sort((a, b) => a.p - b.p)[0];
  const medians = kinds.map((kind) => `${median(times.get(kind) ?? []).toFixed(1)}`).join(' ');
  report(
    what,
    `smallest p ${worst?.p.toFixed(3)} (${worst?.one}, ${worst?.other}); medians ${medians} ms`,
    'p above 0.01',
    (worst?.p ?? 0) > 0.01,
  );
}

async function forgetFailures(sql: Database): Promise<void> {
  await sql`delete from throttle`;
}

async function lock(sql: Database, username: string): Promise<void> {
  const now = new Date();
  await sql`
    insert into throttle (key, failures, changed_at, blocked_until, admitted)
    select 'account:' || id, 5, ${now}, ${new Date(now.getTime() + 60_000)}, true from portal_user where username = ${username}`;
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
