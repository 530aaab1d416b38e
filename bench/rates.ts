import autocannon, { type Request } from 'autocannon';
import type { Database } from '#server/database/database.ts';
import { reportRatio } from './figures.ts';
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
