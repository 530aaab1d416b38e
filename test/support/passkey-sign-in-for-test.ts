import type { Response } from 'light-my-request';
import {
  assertionOf,
  cbor,
  newPasskey,
  type PasskeyAlgorithm,
  type PasskeyForTest,
  type Tweak,
} from './passkey-for-test.ts';
import type { PortalForTest, TestRequest } from './portal-for-test.ts';
import type { BrowserForTest } from './sso-for-test.ts';

/** What authenticators know a user by. */
export async function userHandle({ sql }: PortalForTest, username: string): Promise<Buffer> {
  const [row] = await sql<{ id: string }[]>`select id from portal_user where username = ${username}`;
  return Buffer.from((row?.id ?? '').replaceAll('-', ''), 'hex');
}

/** Gives a user a passkey without a ceremony. */
export async function givePasskey(
  portal: PortalForTest,
  username: string,
  {
    algorithm,
    counter = 0,
    name = 'Test key',
    rpId = 'localhost',
  }: { algorithm?: PasskeyAlgorithm; counter?: number; name?: string; rpId?: string } = {},
): Promise<PasskeyForTest> {
  const passkey = newPasskey({ userHandle: await userHandle(portal, username), rpId }, algorithm);
  passkey.counter = counter;
  await portal.sql`
    insert into passkey (user_id, credential_id, public_key, rp_id, counter, backup_eligible, backed_up, aaguid, name, made_at)
    select id, ${passkey.credentialId}, ${cbor(passkey.publicKey)}, ${rpId}, ${counter}, false, false,
      ${'00000000-0000-0000-0000-000000000000'}, ${name}, ${portal.deps.now()}
    from portal_user where username = ${username}`;
  return passkey;
}

type Kind = 'sign-in' | 'second-factor';

/** Begins a sign-in in a browser; returns its challenge. */
export async function challengeFor(
  browser: BrowserForTest,
  kind: Kind = 'sign-in',
  more: Partial<TestRequest> = {},
): Promise<string> {
  const path = kind === 'sign-in' ? '/portal/passkeys/options' : '/portal/passkeys/second-factor/options';
  const answer = await browser.get(path, { method: 'POST', headers: { accept: 'application/json' }, ...more });
  return answer.json<{ challenge: string }>().challenge;
}

/** Posts the answer of an authenticator. */
export async function postAssertion(
  browser: BrowserForTest,
  credential: string,
  form: Record<string, string> = {},
  more: Partial<TestRequest> & { kind?: Kind } = {},
): Promise<Response> {
  const { kind = 'sign-in', ...request } = more;
  return await browser.post(`/portal/passkeys/${kind}`, { credential, ...form }, request);
}

/** Signs in by a passkey in a browser, honestly unless it is tweaked. */
export async function signInWithPasskey(
  browser: BrowserForTest,
  passkey: PasskeyForTest,
  tweak: Tweak = {},
  form: Record<string, string> = {},
  more: Partial<TestRequest> & { kind?: Kind } = {},
): Promise<Response> {
  const { kind, ...request } = more;
  const challenge = await challengeFor(browser, kind, request);
  return await postAssertion(browser, assertionOf(passkey, { challenge }, tweak), form, more);
}
