import type { Request } from 'autocannon';
import autocannon from 'autocannon';
import { Pool } from 'undici';
import type { Database } from '#server/database/database.ts';
import { median, percentile, report, reportRatio } from './figures.ts';
import type { RunningServer } from './servers.ts';
import { formHeaders, formOf, postSignIn, userCount } from './sign-in-form.ts';

export type Load = { seconds: number; rounds: number };

export const connections = 8;

/** Sign-ins per second, against a bare route with one select, one argon2id and one insert on the same database. */
export async function compareSignIns(portal: RunningServer, bare: RunningServer, load: Load): Promise<void> {
  const requests = (path: string): Request[] =>
    Array.from({ length: userCount }, (_, index) => ({
      method: 'POST',
      path,
      headers: formHeaders,
      body: formOf(`user-${index}`),
    }));
  const { ours, theirs } = await interleaved(load, {
    ours: () => rate(portal.origin, requests('/portal/performlogin'), load.seconds, 303),
    theirs: () => rate(bare.origin, requests('/login'), load.seconds, 303),
  });
  reportRatio('sign-ins per second, 8 connections', { ours, theirs, whose: 'the bare route', least: 0.95 });
}

/** Session checks per second, against a bare route with one indexed select on the same database. */
export async function compareSessionChecks(
  portal: RunningServer,
  bare: RunningServer,
  sql: Database,
  load: Load,
): Promise<void> {
  const cookie = await signedInCookie(portal, sql);
  const { ours, theirs } = await interleaved(load, {
    ours: () => rate(portal.origin, [{ path: '/portal/session', headers: { cookie } }], load.seconds, 200),
    theirs: () => rate(bare.origin, [{ path: '/session' }], load.seconds, 200),
  });
  reportRatio('session checks (forward auth) per second, 8 connections', {
    ours,
    theirs,
    whose: 'the bare route',
    least: 0.9,
  });
}

/** The Cookie header of a browser that has signed in. */
export async function signedInCookie(portal: RunningServer, sql: Database): Promise<string> {
  await sql`delete from throttle`;
  const answer = await postSignIn(portal.origin, 'user-0');
  return answer.headers
    .getSetCookie()
    .map((header) => header.split(';', 1)[0])
    .join('; ');
}

type Sides<T> = { ours: T; theirs: T };

/** Runs both sides alternately, after a warm-up round of each. */
export async function interleaved({ rounds }: Load, sides: Sides<() => Promise<number>>): Promise<Sides<number[]>> {
  const figures: Sides<number[]> = { ours: [], theirs: [] };
  await sides.theirs();
  await sides.ours();
  for (let round = 0; round < rounds; round += 1) {
    figures.theirs.push(await sides.theirs());
    figures.ours.push(await sides.ours());
  }
  return figures;
}

/** Answers per second; any unexpected answer would falsify the figure. */
export async function rate(url: string, requests: Request[], seconds: number, status: number): Promise<number> {
  const result = await autocannon({ url, connections, duration: seconds, requests });
  const statuses = Object.keys(result.statusCodeStats ?? {});
  if (statuses.length !== 1 || statuses[0] !== String(status)) throw new Error(`unexpected answers: ${statuses}`);
  return result.requests.total / result.duration;
}

/**
 * Asks for a path at a steady rate per second, whether or not earlier answers have come, and returns how long each answer
 * took in ms, from when its request was due: what waits behind a slow answer counts too. (autocannon sends a second's
 * requests as fast as it can, and its correction for late ones takes an interval of 1 ms for granted.)
 */
async function pacedRequests(
  origin: string,
  { path, headers }: { path: string; headers: Record<string, string> },
  { perSecond, seconds }: { perSecond: number; seconds: number },
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
    const { statusCode, body } = await pool.request({ path, method: 'GET', headers });
    await body.dump({ limit: Number.POSITIVE_INFINITY });
    if (statusCode !== 200) throw new Error(`unexpected answer: ${statusCode}`);
    times.push(performance.now() - due);
  }
}

/** As a browser asks for the sign-in page. */
const headers = { accept: 'text/html', 'accept-encoding': 'gzip, deflate, br', 'accept-language': 'en' };

/** Sign-in pages per second, against a bare route that sends the same bytes; then the latency of both at half that rate. */
export async function comparePageRates(portal: RunningServer, bare: RunningServer, load: Load): Promise<void> {
  const requests = (path: string) => [{ path, headers }];
  const { ours, theirs } = await interleaved(load, {
    ours: () => rate(portal.origin, requests('/portal/login'), load.seconds, 200),
    theirs: () => rate(bare.origin, requests('/page'), load.seconds, 200),
  });
  reportRatio('sign-in pages per second, 8 connections', { ours, theirs, whose: 'the bare route', least: 0.5 });
  const half = Math.round(Math.max(...ours) / 2);
  const p99 = async ({ origin }: RunningServer, path: string) =>
    percentile(await pacedRequests(origin, { path, headers }, { perSecond: half, seconds: load.seconds }), 0.99);
  const waits = await interleaved(load, {
    ours: () => p99(portal, '/portal/login'),
    theirs: () => p99(bare, '/page'),
  });
  const [wait, bareWait] = [median(waits.ours), median(waits.theirs)];
  const told = `${Math.round(wait)} ms at ${half} a second (the bare route: ${Math.round(bareWait)})`;
  report('p99 of /portal/login at half that load', told, 'under 20 ms', wait < 20);
}
