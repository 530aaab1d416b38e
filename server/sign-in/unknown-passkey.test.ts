import { beforeEach, expect, it } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { newPasskey, type PasskeyForTest, type Tweak } from '#test/support/passkey-for-test.ts';
import { givePasskey, signInWithPasskey, userHandle } from '#test/support/passkey-sign-in-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { type BrowserForTest, browserForTest } from '#test/support/sso-for-test.ts';

// Docs/decisions/0052: the page of a refusal names a passkey that nobody has, for what keeps it.

const portal = portalOfFile({ once: addAttackFixtures });
beforeEach(async () => {
  await portal.sql.unsafe('delete from session; delete from throttle; delete from audit_event; delete from passkey');
});

const idOf = ({ credentialId }: PasskeyForTest) => credentialId.toString('base64url');
const unknown = async () => newPasskey({ userHandle: await userHandle(portal, 'alice') });

/** What the page of the refusal tells, after a sign-in by a passkey. */
async function told(browser: BrowserForTest, passkey: PasskeyForTest, tweak: Tweak = {}): Promise<unknown> {
  await signInWithPasskey(browser, passkey, tweak);
  return await toldAt(browser, '/portal/loginfail/passkey');
}

async function toldAt(browser: BrowserForTest, url: string): Promise<unknown> {
  const [, json] = /data-unknown="([^"]*)"/.exec((await browser.get(url)).body) ?? [];
  return json === undefined ? null : JSON.parse(json.replaceAll('&#34;', '"'));
}

it('one that nobody has is named to the browser that has shown it, on the page of the refusal alone', async () => {
  const browser = browserForTest(portal);
  const passkey = await unknown();
  expect(await told(browser, passkey)).toEqual({ rpId: 'localhost', credentialId: idOf(passkey) });
  expect(await toldAt(browser, '/portal/login')).toBeNull();
  expect(await toldAt(browserForTest(portal), '/portal/loginfail/passkey')).toBeNull();
});

it.each<[string, Tweak, string]>([
  ['a wrong signature', { signWith: newPasskey({ userHandle: Buffer.alloc(16) }).privateKey }, 'select'],
  ['no verification', { flags: 1 }, 'select'],
  ['another user in its answer', { userHandle: Buffer.alloc(16) }, 'select'],
  ['a challenge that is unknown', { challenge: 'A'.repeat(43) }, 'select'],
  ['a user who is inactive', {}, "update portal_user set active = false where username = 'alice'"],
])('one that somebody has is not, when it is refused for %s', async (_, tweak, change) => {
  const passkey = await givePasskey(portal, 'alice');
  await portal.sql.unsafe(change);
  expect(await told(browserForTest(portal), passkey, tweak)).toBeNull();
  await portal.sql`update portal_user set active = true`;
});

it('a later refusal, or a sign-in, forgets it', async () => {
  const browser = browserForTest(portal);
  await told(browser, await unknown());
  const wrong = { signWith: (await unknown()).privateKey };
  expect(await told(browser, await givePasskey(portal, 'alice'), wrong)).toBeNull();
  await told(browser, await unknown());
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  expect(await toldAt(browser, '/portal/loginfail/passkey')).toBeNull();
});

it('an id that is too long for a cookie is not named', async () => {
  const long = { ...(await unknown()), credentialId: Buffer.alloc(200, 1) };
  expect(await told(browserForTest(portal), long)).toBeNull();
});

it('a cookie that somebody has written names none', async () => {
  const browser = browserForTest(portal);
  await told(browser, await unknown());
  const name = 'vestibule-refusal';
  const value = JSON.parse(Buffer.from(browser.cookies[name] ?? '', 'base64url').toString());
  for (const id of ['"><script>', 1, 'A'.repeat(201), '']) {
    browser.cookies[name] = Buffer.from(JSON.stringify({ ...value, unknown: id })).toString('base64url');
    expect(await toldAt(browser, '/portal/loginfail/passkey')).toBeNull();
  }
});
