import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Request } from 'autocannon';
import autocannon from 'autocannon';
import { Pool } from 'undici';
import type { Database } from '#server/database/database.ts';
import { median, percentile, report, reportRatio } from './figures.ts';
import { type RunningServer, startPortal, startScript } from './servers.ts';
import { formHeaders, formOf, postSignIn, userCount } from './sign-in-form.ts';

type Load = { seconds: number; rounds: number };

const connections = 8;

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
async function signedInCookie(portal: RunningServer, sql: Database): Promise<string> {
  await sql`delete from throttle`;
  const answer = await postSignIn(portal.origin, 'user-0');
  return answer.headers
    .getSetCookie()
    .map((header) => header.split(';', 1)[0])
    .join('; ');
}

type Sides<T> = { ours: T; theirs: T };

/** Runs both sides alternately, after a warm-up round of each. */
async function interleaved({ rounds }: Load, sides: Sides<() => Promise<number>>): Promise<Sides<number[]>> {
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
async function rate(url: string, requests: Request[], seconds: number, status: number): Promise<number> {
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

const few = 1000;
const many = 1_000_000;
const atOnce = 20_000;

/**
 * Requests through the gate per second, against a bare Fastify proxy on the same library in front of the same hub; then with
 * many sessions in the database, against few.
 */
export async function compareGate(dataFolder: string, sql: Database, load: Load): Promise<void> {
  const hub = await startScript('bench/baselines.ts', 'hub');
  const config = join(dataFolder, 'gate.config.json');
  await writeFile(config, JSON.stringify({ hub: { url: hub.origin, paths: ['/app'] } }));
  const portal = await startPortal(dataFolder, { VESTIBULE_CONFIG: config });
  const bare = await startScript('bench/baselines.ts', 'proxy', hub.origin);
  await sql`delete from session`;
  await addSessions(sql, few);
  const cookie = await signedInCookie(portal, sql);
  const gate = () => rate(portal.origin, [{ path: '/app/page', headers: { cookie } }], load.seconds, 200);
  const { ours, theirs } = await interleaved(load, {
    ours: gate,
    theirs: () => rate(bare.origin, [{ path: '/app/page', headers: { cookie } }], load.seconds, 200),
  });
  reportRatio('requests through the gate, 8 connections', { ours, theirs, whose: 'a bare proxy', least: 0.7 });
  await addSessions(sql, many - few);
  await gate();
  const crowded: number[] = [];
  for (let round = 0; round < load.rounds; round += 1) crowded.push(await gate());
  const ratio = median(crowded) / median(ours);
  const figure = `${ratio.toFixed(2)} of those with ${few} (${Math.round(median(crowded))} to ${Math.round(median(ours))})`;
  report(`the same with ${many} sessions`, figure, '0.80 to 1.20', ratio >= 0.8 && ratio <= 1.2);
  await sql`truncate session`;
  await Promise.all([portal.stop(), bare.stop(), hub.stop()]);
}

/** Adds sessions of the users by turns, as sign-ins would leave them. */
async function addSessions(sql: Database, count: number): Promise<void> {
  // A statement has a limited time.
  for (let added = 0; added < count; added += atOnce) await insertSessions(sql, Math.min(atOnce, count - added));
  await sql`analyze session`;
}

async function insertSessions(sql: Database, count: number): Promise<void> {
  const now = new Date();
  await sql`
    insert into session (token_hash, user_id, stage, customer_ids, address, created_at, last_seen_at, ends_at)
    select sha256(convert_to(gen_random_uuid()::text, 'utf8')), u.id, 'full', u.customer_ids, '127.0.0.1', ${now}, ${now},
      ${now}::timestamptz + interval '12 hours'
    from generate_series(1, ${count}) as made (place)
    join (
      select portal_user.id, array_agg(customer_id) as customer_ids, row_number() over (order by portal_user.id) as place
      from portal_user join membership on user_id = portal_user.id group by portal_user.id
    ) u on u.place = 1 + made.place % 100`;
}
