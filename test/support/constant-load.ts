import { setTimeout as pause } from 'node:timers/promises';

/** How the requests of a load ended. */
type LoadCounts = {
  well: number;
  /** 503 with Retry-After: whoever asked knows that nothing happened, and when to ask again. */
  refused: number;
  /** How often each other status or error occurred. */
  lost: Record<string, number>;
  /** How long each of those answered well took, in milliseconds. */
  times: number[];
};

const kinds = ['signIns', 'checks', 'forwardAuth', 'gate'] as const;
type Kind = (typeof kinds)[number];

export type ConstantLoad = {
  /** Since the start, or the last `begin`. */
  counts: Record<Kind, LoadCounts>;
  /** Sessions whose sign-in was acknowledged and that nobody has asked to end. */
  sessions: Set<string>;
  /** Sessions whose end was acknowledged. */
  ended: Set<string>;
  /** What was refused or lost since then, by kind and status or error. */
  unanswered: () => { refused: number; lost: Record<string, number> };
  /** Counts from zero again. */
  begin: () => void;
  /** Waits until every kind has ended well once more; returns the milliseconds that this took. */
  wellAgain: () => Promise<number>;
  stop: () => Promise<void>;
};

const none = (): LoadCounts => ({ well: 0, refused: 0, lost: {}, times: [] });
/** A third of the sign-ins signs out again. */
const signOutEvery = 3;
const patience = 60_000;

/**
 * A load until stopped: sign-ins, session checks, and requests to a hub, which the proxy (`/app`) or the portal's own gate
 * (`portal.html`) protects; each sent by several users one after the other. All passwords are the same.
 */
export function constantLoad(
  origin: string,
  { usernames, password }: { usernames: readonly string[]; password: string },
): ConstantLoad {
  const sessions = new Set<string>();
  const ended = new Set<string>();
  let stopped = false;

  async function ask(path: string, { cookie = '', form }: { cookie?: string; form?: URLSearchParams } = {}) {
    const headers = { accept: 'application/json', cookie, origin };
    const method = form ? 'POST' : 'GET';
    const signal = AbortSignal.timeout(patience);
    const answer = await fetch(origin + path, { method, headers, body: form ?? null, redirect: 'manual', signal });
    await answer.arrayBuffer();
    return answer;
  }

  /** The answer if it is the expected one. */
  async function counted(kind: Kind, expected: number, asked: Promise<Response>): Promise<Response | null> {
    const from = performance.now();
    const answer = await asked.catch((error: Error) => error);
    const count = load.counts[kind];
    if (!(answer instanceof Error) && answer.status === expected) {
      count.well += 1;
      count.times.push(performance.now() - from);
      return answer;
    }
    const how = answer instanceof Error ? answer.message : String(answer.status);
    if (!(answer instanceof Error) && answer.status === 503 && answer.headers.has('retry-after')) count.refused += 1;
    else count.lost[how] = (count.lost[how] ?? 0) + 1;
    await pause(20);
    return null;
  }

  async function signIns(first: number) {
    for (let round = first; !stopped; round += 1) {
      const form = new URLSearchParams({ username: usernames[round % usernames.length] ?? '', password });
      const answer = await counted('signIns', 303, ask('/portal/performlogin', { form }));
      const session = answer?.headers
        .getSetCookie()
        .find((one) => one.startsWith('vestibule-session='))
        ?.split(';')[0];
      if (!session) continue;
      if (round % signOutEvery > 0) {
        sessions.add(session);
        continue;
      }
      const end = ask('/portal/logout', { cookie: session, form: new URLSearchParams() });
      if (await counted('signIns', 204, end)) ended.add(session);
    }
  }

  async function asks(kind: Kind, path: string) {
    while (!stopped) {
      const cookie = [...sessions].at(-1);
      if (cookie) await counted(kind, 200, ask(path, { cookie }));
      else await pause(20);
    }
  }

  const load: ConstantLoad = {
    counts: { signIns: none(), checks: none(), forwardAuth: none(), gate: none() },
    sessions,
    ended,
    unanswered: () => {
      const counts = Object.entries(load.counts);
      const lost = counts.flatMap(([kind, count]) =>
        Object.entries(count.lost).map(([how, n]) => [`${kind} ${how}`, n]),
      );
      return { refused: counts.reduce((sum, [, { refused }]) => sum + refused, 0), lost: Object.fromEntries(lost) };
    },
    begin: () => {
      for (const kind of kinds) load.counts[kind] = none();
    },
    wellAgain: async () => {
      const from = performance.now();
      const before = kinds.map((kind) => load.counts[kind].well);
      while (kinds.some((kind, index) => load.counts[kind].well <= (before[index] ?? 0))) await pause(10);
      return performance.now() - from;
    },
    stop: async () => {
      stopped = true;
      await Promise.all(workers);
    },
  };
  const workers = [
    ...[0, 1, 2].map((index) => signIns(index)),
    ...[0, 1].map(() => asks('checks', '/portal/session')),
    ...[0, 1].map(() => asks('forwardAuth', '/app/page?x=1')),
    ...[0, 1].map(() => asks('gate', '/portal/portal.html')),
  ];
  return load;
}
