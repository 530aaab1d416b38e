import { Pool } from 'undici';
import { connections } from './rates.ts';

/**
 * Asks for a path at a steady rate per second, whether or not earlier answers have come, and returns how long each answer
 * took in ms, from when its request was due: what waits behind a slow answer counts too. (autocannon sends a second's
 * requests as fast as it can, and its correction for late ones takes an interval of 1 ms for granted.)
 */
export async function pacedRequests(
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
