import { generateSync } from 'otplib';
import { keysOf, secretsOfDataFolder } from '#server/crypto/keys.ts';
import { seal } from '#server/crypto/sealed.ts';
import { newToken, tokenHash } from '#server/crypto/token.ts';
import type { Database } from '#server/database/database.ts';
import { totpPlace } from '#server/factors/registration.ts';
import { type Assertion, checkAssertion, readAnswer } from '#server/factors/take-passkey.ts';
import { newTotpSecret } from '#server/factors/totp.ts';
import { assertionOf, cbor, newPasskey, type PasskeyForTest } from '#test/support/passkey-for-test.ts';
import { median, report, timed } from './figures.ts';
import type { RunningServer } from './servers.ts';
import { formHeaders, postSignIn } from './sign-in-form.ts';

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

const noAaguid = '00000000-0000-0000-0000-000000000000';

/**
 * Times the checks of a passkey's answer, and whole sign-ins by passkey beside ones by password and an empty route of the
 * bare server, alternately, and counts the requests to the hub.
 */
export async function measurePasskeys(portal: RunningServer, bare: RunningServer, sql: Database): Promise<void> {
  const passkey = await givePasskey(sql, 'user-4');
  const times = { checks: [] as number[], empty: [] as number[], passkey: [] as number[], password: [] as number[] };
  for (let sample = 0; sample < samples; sample += 1) {
    await sql`delete from throttle`;
    const { challenge, cookie } = await begun(portal.origin);
    const answer = assertionOf(passkey, { challenge, origin: portal.origin });
    times.checks.push(await timed(() => check(passkey, answer, portal.origin)));
    times.empty.push(await timed(async () => (await fetch(`${bare.origin}/empty`)).text()));
    times.passkey.push(await timed(async () => led(await send(portal.origin, cookie, answer))));
    times.password.push(await timed(async () => led(await postSignIn(portal.origin, 'user-5'))));
  }
  const [checks, empty, byPasskey, byPassword] = [times.checks, times.empty, times.passkey, times.password].map(
    median,
  ) as [number, number, number, number];
  report('the checks of an answer by passkey', `${checks.toFixed(1)} ms`, 'under 3 ms', checks < 3);
  const ratio = byPasskey / byPassword;
  report(
    'a sign-in by passkey',
    `${ratio.toFixed(2)} of one by password (${byPasskey.toFixed(1)} to ${byPassword.toFixed(1)} ms; an empty route ${empty.toFixed(1)})`,
    'at most 1.00',
    ratio <= 1,
  );
  const requests = await requestsToHub(portal.origin, passkey);
  report('requests from a chosen passkey to the hub', String(requests), 'at most 3', requests <= 3);
}

/** Throws unless an answer leads to the hub. */
function led({ headers }: Response): void {
  const to = headers.get('location');
  if (to !== '/portal/portal.html') throw new Error(`to ${to}`);
}

/** Gives a user a passkey of software, as if enrolled. */
async function givePasskey(sql: Database, username: string): Promise<PasskeyForTest> {
  const [user] = await sql<{ id: string }[]>`select id from portal_user where username = ${username}`;
  const passkey = newPasskey({ userHandle: Buffer.from((user?.id ?? '').replaceAll('-', ''), 'hex') });
  await sql`
    insert into passkey (user_id, credential_id, public_key, rp_id, counter, backup_eligible, backed_up, aaguid, name, made_at)
    values (${user?.id ?? null}, ${passkey.credentialId}, ${cbor(passkey.publicKey)}, 'localhost', 0, false, false, ${noAaguid},
      'bench', ${new Date()})`;
  return passkey;
}

async function begun(origin: string): Promise<{ challenge: string; cookie: string }> {
  const answer = await fetch(`${origin}/portal/passkeys/options`, {
    method: 'POST',
    headers: { accept: 'application/json' },
  });
  const { challenge } = (await answer.json()) as { challenge: string };
  return { challenge, cookie: cookiesOf(answer) };
}

/** What the server does with an answer apart from the database. */
async function check(passkey: PasskeyForTest, answer: string, origin: string): Promise<void> {
  const assertion = readAnswer<Assertion['json']>(answer);
  if (!assertion) throw new Error('not read');
  const { credentialId, userHandle } = passkey;
  const stored = {
    ...{ id: '', username: '', name: '', counter: 0, backupEligible: false, credentialId },
    userId: userHandle.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    publicKey: cbor(passkey.publicKey),
  };
  const checked = await checkAssertion(assertion, stored, { id: 'localhost', origin }, []);
  if (checked.kind === 'refused') throw new Error(checked.reason);
}

async function send(origin: string, cookie: string, credential: string): Promise<Response> {
  const answer = await fetch(`${origin}/portal/passkeys/sign-in`, {
    method: 'POST',
    headers: { ...formHeaders, cookie },
    body: new URLSearchParams({ credential }).toString(),
    redirect: 'manual',
  });
  await answer.text();
  return answer;
}

/** How many requests a browser sends from the chosen passkey until the page that it leads to answers. */
async function requestsToHub(origin: string, passkey: PasskeyForTest): Promise<number> {
  const { challenge, cookie } = await begun(origin);
  let answer = await send(origin, cookie, assertionOf(passkey, { challenge, origin }));
  const kept = cookiesOf(answer);
  let count = 1;
  for (let to = answer.headers.get('location'); to !== null && count < 9; to = answer.headers.get('location')) {
    answer = await fetch(new URL(to, origin), { headers: { cookie: kept }, redirect: 'manual' });
    count += 1;
  }
  if (!answer.ok) throw new Error(`the hub answered ${answer.status}`);
  return count;
}

function cookiesOf({ headers }: Response): string {
  return headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ');
}
