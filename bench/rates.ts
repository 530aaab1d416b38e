import type { Request } from 'autocannon';
import autocannon from 'autocannon';
import { Pool } from 'undici';
import type { Contender } from './contenders.ts';
import { sessionsOf } from './contenders.ts';
import { find, median, percentile } from './figures.ts';
import { userCount } from './people.ts';

const connections = 8;
/** Measured rounds of everybody, in turn, after one to warm up. */
const rounds = 5;

/** Ours, the floor and the peers that were installed. */
export type Field = { ours: Contender; floor: Contender; peers: readonly Contender[] };

/** Sign-ins per second, each by another user than those of the other connections. */
export async function compareSignIns({ ours, floor, peers }: Field): Promise<void> {
  const figures = await inTurn([ours, floor, ...peers], (one) => {
    const requests = Array.from({ length: userCount }, (_, index) => one.signIn(`user-${index}`));
    return rate(one.origin, requests, { seconds: 3, status: one.signedIn });
  });
  findRate('sign-ins', figures, { goal: { toFloor: 0.85, toPeer: 1 } });
}

/**
 * Session checks per second, of 100 sessions by turns: as the application's own pages ask, and as a proxy asks for a page
 * that only one customer may see. Peers know only the first.
 */
export async function compareChecks({ ours, floor, peers }: Field, proxied: string): Promise<void> {
  const signedIn = await withSessions(ours);
  const forwarded = { ...signedIn, isForwarded: true, origin: proxied, sessionPath: '/portal/session?customer=acme' };
  const [bare, ...others] = await Promise.all([floor, ...peers].map(withSessions));
  if (!bare) throw new Error('nothing to compare with');
  const contenders = [signedIn, forwarded, bare, { ...bare, isForwarded: true }, ...others];
  const figures = await inTurn(contenders, ({ origin, sessionPath, cookies, ...one }) => {
    const asked = 'isForwarded' in one ? forwardedHeaders : {};
    const requests = cookies.map((cookie) => ({ path: sessionPath, headers: { ...asked, cookie } }));
    return rate(origin, requests, { seconds: 2, status: 200 });
  });
  const [checks, forward, bareChecks, bareForward, ...theirs] = figures;
  if (!checks || !forward || !bareChecks || !bareForward) throw new Error('nothing was measured');
  const goal = { toFloor: 0.8, toPeer: 6 };
  findRate('session checks', [checks, bareChecks, ...theirs], { goal });
  findRate('forward auth', [forward, bareForward, ...theirs], { goal });
}

const forwardedHeaders = {
  accept: 'text/html',
  'x-forwarded-for': '192.0.2.7',
  'x-forwarded-method': 'GET',
  'x-forwarded-uri': '/app/page?of=the+hub',
};

/** Requests through the gate per second, beside a proxy by the same library that asks the database who is there. */
export async function compareGate({ ours, floor }: Field): Promise<void> {
  const contenders = await Promise.all([ours, { ...floor, is: 'bare proxy' }].map(withSessions));
  const figures = await inTurn(contenders, ({ origin, cookies }) => {
    const requests = cookies.map((cookie) => ({ path: '/app/page', headers: { cookie } }));
    return rate(origin, requests, { seconds: 2, status: 200 });
  });
  findRate('requests through the gate', figures, { goal: { toFloor: 0.6 } });
}

/** Sign-in pages per second, then the 99th percentile of everybody's at half of their own rate. */
export async function comparePageRates({ ours, floor, peers }: Field): Promise<void> {
  const contenders = [ours, floor, ...peers].filter(({ page }) => page !== undefined);
  const figures = await inTurn(contenders, ({ origin, page = '' }) =>
    rate(origin, [{ path: page, headers: asBrowser }], { seconds: 2, status: 200 }),
  );
  findRate('sign-in pages', figures, {});
  const waits = await inTurn(contenders, async ({ is, origin, page = '' }) => {
    const half = (figures.find((one) => one.is === is)?.figure ?? 0) / 2;
    return percentile(await pacedRequests(origin, { path: page, perSecond: half, seconds: 2 }), 0.99);
  });
  const [wait, bare, ...others] = waits;
  if (!wait) throw new Error('nothing was measured');
  const what = 'sign-in page at half of that rate, 99th percentile';
  find({ what, unit: 'ms', ours: wait.figure, floor: bare, peers: others, better: 'less', isTold: true });
}

/** As a browser asks for a page. */
const asBrowser = { accept: 'text/html', 'accept-encoding': 'gzip, deflate, br', 'accept-language': 'en' };

async function withSessions(one: Contender): Promise<Contender & { cookies: string[] }> {
  return { ...one, cookies: await sessionsOf(one) };
}

type Measured = { is: string; figure: number };

/** Measures everybody in turn, in several rounds after one to warm up, and returns their medians. */
async function inTurn<C extends Contender>(
  contenders: readonly C[],
  measure: (one: C) => Promise<number>,
): Promise<Measured[]> {
  const measured = contenders.map(({ is }) => ({ is, figures: [] as number[] }));
  for (let round = 0; round <= rounds; round += 1)
    for (const [index, one] of contenders.entries()) {
      const figure = await measure(one);
      if (round > 0) measured[index]?.figures.push(figure);
    }
  return measured.map(({ is, figures }) => ({ is, figure: median(figures) }));
}

function findRate(
  what: string,
  [ours, floor, ...peers]: readonly Measured[],
  { goal = {} }: { goal?: { toFloor?: number; toPeer?: number } },
): void {
  if (!ours) throw new Error('nothing was measured');
  find({ what, unit: 'a second', ours: ours.figure, floor, peers, better: 'more', goal, isTold: 'toFloor' in goal });
}

/** Answers per second; any unexpected answer would falsify the figure. */
async function rate(
  url: string,
  requests: Request[],
  { seconds, status }: { seconds: number; status: number },
): Promise<number> {
  let begun = 0;
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    requests,
    // Each connection begins elsewhere, so that they do not all ask for the same person at the same time.
    setupClient: (client) => {
      const from = Math.floor((begun * requests.length) / connections);
      begun += 1;
      client.setRequests([...requests.slice(from), ...requests.slice(0, from)]);
    },
  });
  const statuses = Object.keys(result.statusCodeStats ?? {});
  if (statuses.length !== 1 || statuses[0] !== String(status) || result.errors > 0)
    throw new Error(`unexpected answers of ${url}: ${statuses}, ${result.errors} errors`);
  return result.requests.total / result.duration;
}

/**
 * Asks for a path at a steady rate per second, whether or not earlier answers have come, and returns how long each answer
 * took in ms, from when its request was due: what waits behind a slow answer counts too. (autocannon sends a second's
 * requests as fast as it can, and its correction for late ones takes an interval of 1 ms for granted.)
 */
async function pacedRequests(
  origin: string,
  { path, perSecond, seconds }: { path: string; perSecond: number; seconds: number },
): Promise<number[]> {
  const pool = new Pool(origin, { connections });
  const times: number[] = [];
  const sent: Promise<void>[] = [];
  const begun = performance.now();
  while (sent.length < perSecond * seconds) {
    const due = begun + (sent.length * 1000) / perSecond;
    if (due > performance.now()) await new Promise((resolve) => setTimeout(resolve, 1));
    else sent.push(ask(due));
  }
  await Promise.all(sent);
  await pool.close();
  return times;

  async function ask(due: number): Promise<void> {
    const { statusCode, body } = await pool.request({ path, method: 'GET', headers: asBrowser });
    await body.dump({ limit: Number.POSITIVE_INFINITY });
    if (statusCode !== 200) throw new Error(`unexpected answer: ${statusCode}`);
    times.push(performance.now() - due);
  }
}
