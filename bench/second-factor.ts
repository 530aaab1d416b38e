import { generateSync } from 'otplib';
import { keysOf, secretsOfDataFolder } from '#server/crypto/keys.ts';
import { seal } from '#server/crypto/sealed.ts';
import { newToken, tokenHash } from '#server/crypto/token.ts';
import type { Database } from '#server/database/database.ts';
import { totpPlace } from '#server/factors/registration.ts';
import { newTotpSecret } from '#server/factors/totp.ts';
import { median, report, timed } from './figures.ts';
import type { RunningServer } from './servers.ts';

const samples = 300;

/** Times right codes against an empty route of the bare server, alternately. */
export async function measureVerify(
  portal: RunningServer,
  bare: RunningServer,
  sql: Database,
  dataFolder: string,
): Promise<void> {
  const times = { verify: [] as number[], empty: [] as number[] };
  for (let sample = 0; sample < samples; sample += 1) {
    const waiting = await signInThatWaits(sql, dataFolder, 'user-3');
    times.empty.push(await timed(async () => (await fetch(`${bare.origin}/empty`)).text()));
    times.verify.push(await timed(() => sendCode(portal.origin, waiting)));
  }
  const cost = median(times.verify) - median(times.empty);
  report(
    'a right code, beside an empty route',
    `${cost.toFixed(1)} ms more (${median(times.verify).toFixed(1)} to ${median(times.empty).toFixed(1)})`,
    'under 5 ms',
    cost < 5,
  );
}

/** A sign-in that waits for the code of an app; `codeNow` gives the one of this moment. */
type SignInThatWaits = { cookie: string; codeNow: () => string };

/** Gives a user a new app, and begins a sign-in that waits for its code. */
export async function signInThatWaits(sql: Database, dataFolder: string, username: string): Promise<SignInThatWaits> {
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
export async function sendCode(origin: string, { cookie, codeNow }: SignInThatWaits): Promise<void> {
  const answer = await fetch(`${origin}/portal/two-factor-authentication/verify`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify(codeNow()),
  });
  const text = await answer.text();
  if (text !== 'true') throw new Error(`unexpected answer: ${text}`);
}
