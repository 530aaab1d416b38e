import { generateSync } from 'otplib';
import { seal } from '#server/secrets/sealed.ts';
import { keysOf, secretsOfDataFolder } from '#server/secrets/server-secret.ts';
import { newToken, tokenHash } from '#server/secrets/token.ts';
import type { Database } from '#server/storage/database.ts';
import { totpPlace } from '#server/two-factor/registration.ts';
import { newTotpSecret } from '#server/two-factor/totp.ts';
import { median, report } from './figures.ts';
import type { RunningServer } from './servers.ts';

const samples = 300;

/** Times right codes against an empty route of the bare server, alternately. */
export async function measureVerify(
  portal: RunningServer,
  bare: RunningServer,
  sql: Database,
  dataFolder: string,
): Promise<void> {
  const [user] = await sql<{ id: string }[]>`select id from portal_user where username = 'user-3'`;
  const userId = user?.id ?? '';
  const secret = newTotpSecret();
  const { seal: keys } = keysOf(await secretsOfDataFolder(dataFolder));
  await sql`
    insert into totp (user_id, sealed_secret, last_step, confirmed_at)
    values (${userId}, ${seal(keys, secret, totpPlace(userId))}, 0, ${new Date()})`;
  const times = { verify: [] as number[], empty: [] as number[] };
  for (let sample = 0; sample < samples; sample += 1) {
    const cookie = await halfSession(sql, userId);
    times.empty.push(await timed(`${bare.origin}/empty`, {}));
    const body = JSON.stringify(generateSync({ secret, epoch: Math.floor(Date.now() / 1000) }));
    const headers = { cookie, 'content-type': 'application/json' };
    const url = `${portal.origin}/portal/two-factor-authentication/verify`;
    times.verify.push(await timed(url, { method: 'POST', headers, body }, 'true'));
  }
  const cost = median(times.verify) - median(times.empty);
  report(
    'a right code, beside an empty route',
    `${cost.toFixed(1)} ms more (${median(times.verify).toFixed(1)} to ${median(times.empty).toFixed(1)})`,
    'under 5 ms',
    cost < 5,
  );
}

/** A half session that expects the app's code, and an unused time step; returns its cookie. */
async function halfSession(sql: Database, userId: string): Promise<string> {
  const token = newToken();
  const now = new Date();
  await sql`update totp set last_step = 0 where user_id = ${userId}`;
  await sql`
    insert into session (token_hash, user_id, stage, factor, customer_ids, address, created_at, last_seen_at, ends_at)
    select ${tokenHash(token)}, ${userId}, 'half', 'app', array(select id from customer where key = 'acme'), '127.0.0.1',
      ${now}, ${now}, ${new Date(now.getTime() + 60_000)}`;
  return `vestibule-session=${token}`;
}

async function timed(url: string, init: RequestInit, expected?: string): Promise<number> {
  const started = performance.now();
  const text = await (await fetch(url, init)).text();
  const time = performance.now() - started;
  if (expected !== undefined && text !== expected) throw new Error(`unexpected answer: ${text}`);
  return time;
}
