import type { Response } from 'light-my-request';
import { enrolmentOf, newPasskey, type PasskeyForTest, type Tweak } from './passkey-for-test.ts';
import type { TestRequest } from './portal-for-test.ts';
import type { BrowserForTest } from './sso-for-test.ts';

export type InvitationOptions = { challenge: string; user: { id: string; name: string }; rp: { id: string } };

/** Begins the passkey of a link in a browser. */
export async function beginByLink(
  browser: BrowserForTest,
  hash: string,
  more: Partial<TestRequest> = {},
): Promise<Response> {
  const headers = { accept: 'application/json' };
  return await browser.post('/portal/passkeys/invitation/options', { hash }, { headers, ...more });
}

/** Posts what an authenticator has made for a link. */
export async function postByLink(
  browser: BrowserForTest,
  hash: string,
  credential: string,
  more: Partial<TestRequest> = {},
): Promise<Response> {
  return await browser.post('/portal/passkeys/invitation', { hash, credential }, more);
}

/** Makes a passkey by a link, honestly unless it is tweaked; returns it with where that led. */
export async function makeByLink(
  browser: BrowserForTest,
  hash: string,
  tweak: (passkey: PasskeyForTest) => Tweak = () => ({}),
): Promise<{ passkey: PasskeyForTest; location: string }> {
  const options = (await beginByLink(browser, hash)).json<InvitationOptions>();
  const passkey = newPasskey({ userHandle: Buffer.from(options.user.id, 'base64url'), rpId: options.rp.id });
  const answer = await postByLink(browser, hash, enrolmentOf(passkey, options, tweak(passkey)));
  return { passkey, location: String(answer.headers.location) };
}
