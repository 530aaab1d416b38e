import type { Database } from '#server/database/database.ts';
import { find, median, timed } from './figures.ts';
import { formHeaders, password, postSignIn } from './people.ts';
import type { RunningServer } from './servers.ts';

const samplesEach = 150;

/** Every kind of refusal that must be indistinguishable (EN-02): the name and the password to try. */
const refusals = {
  'wrong password': ['user-1', 'not this one'],
  unknown: ['nobody', 'not this one'],
  inactive: ['inactive', password],
  'no customer': ['homeless', password],
  locked: ['user-2', password],
  'no password': ['sso-only', 'not this one'],
} as const;

/** Times every kind of refusal by turns, and looks for a distinguishable pair. */
export async function measureRefusals({ origin }: RunningServer, sql: Database): Promise<void> {
  await tellApart(
    'refused sign-ins told apart by time',
    Object.keys(refusals) as (keyof typeof refusals)[],
    async (kind) => {
      const [username, typedPassword] = refusals[kind];
      await sql`delete from throttle`;
      // Before each sample, so that the database has always done the same work.
      await lock(sql, refusals.locked[0]);
      return await timed(async () => await (await postSignIn(origin, username, typedPassword)).arrayBuffer());
    },
  );
}

/** Every kind of account for which a link can be requested (EN-05). */
const forgetful = { known: 'user-1', unknown: 'nobody', inactive: 'inactive', 'single sign-on': 'managed' } as const;

/** Times requests for a link for each kind of account by turns, and looks for a distinguishable pair. */
export async function measureForgotten({ origin }: RunningServer, sql: Database): Promise<void> {
  const kinds = Object.keys(forgetful) as (keyof typeof forgetful)[];
  await tellApart('requests for a link told apart by time', kinds, async (kind) => {
    await sql`delete from throttle`;
    await sql`delete from reset_link`;
    const form = new URLSearchParams({ username: `${forgetful[kind]}@acme.test` });
    const post = { method: 'POST', headers: formHeaders, body: form.toString() };
    return await timed(async () => await (await fetch(`${origin}/portal/password/forgotten`, post)).arrayBuffer());
  });
}

/** Samples each kind alternately, and finds the most distinguishable pair. */
async function tellApart<Kind extends string>(
  what: string,
  kinds: readonly Kind[],
  sampleOf: (kind: Kind) => Promise<number>,
): Promise<void> {
  const times = new Map(kinds.map((kind) => [kind, [] as number[]]));
  for (let sample = 0; sample < samplesEach; sample += 1)
    for (const kind of shuffled(kinds)) times.get(kind)?.push(await sampleOf(kind));
  const pairs = kinds.flatMap((one, index) => kinds.slice(index + 1).map((other) => [one, other] as const));
  const p = Math.min(...pairs.map(([one, other]) => mannWhitneyP(times.get(one) ?? [], times.get(other) ?? [])));
  const most = Math.max(...kinds.map((kind) => median(times.get(kind) ?? [])));
  const floor = { is: 'quickest kind, ms', figure: Math.min(...kinds.map((kind) => median(times.get(kind) ?? []))) };
  // Of so many pairs one looks different by chance.
  find({ what: `${what}: slowest kind`, unit: 'ms', ours: most, floor, better: 'less' });
  find({
    what: `${what}: smallest p of ${pairs.length} pairs`,
    unit: '',
    ours: p,
    better: 'more',
    goal: { ours: 0.01 / pairs.length },
  });
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

/**
 * The probability that two samples this different come from one distribution: the two-sided p of the Mann-Whitney U
 * test, by its normal approximation.
 */
function mannWhitneyP(one: readonly number[], other: readonly number[]): number {
  const all = [...one.map((value) => ({ value, first: true })), ...other.map((value) => ({ value, first: false }))];
  all.sort((a, b) => a.value - b.value);
  let rankSum = 0;
  for (let start = 0; start < all.length; ) {
    let end = start;
    while (end < all.length && all[end]?.value === all[start]?.value) end += 1;
    const sharedRank = (start + 1 + end) / 2;
    rankSum += sharedRank * all.slice(start, end).filter(({ first }) => first).length;
    start = end;
  }
  const [n, m] = [one.length, other.length];
  const u = rankSum - (n * (n + 1)) / 2;
  const z = Math.abs(u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12);
  return 2 * (1 - normalBelow(z));
}

/** The standard normal distribution below z, by Abramowitz and Stegun 26.2.17. */
function normalBelow(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const tail = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * tail;
}
