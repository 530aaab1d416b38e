import { hash } from 'node:crypto';
import type { Response } from 'light-my-request';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { answerCookie } from '#server/single-sign-on/answer-cookie.ts';
import { keepHouse } from '#server/upkeep/housekeeping.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { signed, startForgedProvider } from '#testing/forged-openid-provider.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  addSamlConnection,
  crossSite,
  postSamlAnswer,
  type SamlProviderForTest,
  samlAnswer,
  samlProvider,
  samlRequestAt,
} from '#testing/saml-sign-in-for-test.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import { addOidcConnection, type BrowserForTest, browserForTest, departFor, pathOf } from '#testing/sso-for-test.ts';

let acme: SamlProviderForTest;
const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  acme = await samlProvider('idp.acme.test', portal.deps.now());
});

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await portal.sql`update customer set new_device_mail = true`;
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'bob' });
  await addOidcConnection(portal, provider);
  await addSamlConnection(portal, acme, { domains: ['saml.test'] });
  await addUser(portal, { username: 'sam', email: 'sam@saml.test' });
  browser = browserForTest(portal);
  as('alice@acme.test');
});

const as = (email: string, during?: () => Promise<unknown>) =>
  provider.bend({
    claims: (honest) => ({ ...honest, sub: email, email, email_verified: true }),
    idToken: async (claims, header) => {
      await during?.();
      return await signed(claims, header, provider.key.privateKey);
    },
  });
const begin = async () =>
  pathOf(provider.visit(await departFor(browser, 'alice@acme.test', { redirectURL: '/portal/reports' })));
const who = async ({ cookies } = browser) => await signedInAs(portal, cookies);
const count = async (event: string) => (await portal.sql`select from audit_event where event = ${event}`).length;
const sessions = async () => (await portal.sql`select from session`).length;
/** A response that never reaches the browser: it keeps the cookies from before. */
const lose = async (url: string) => await portal.send({ url, cookies: { ...browser.cookies }, ...crossSite });
/** The end of a visit, by either protocol, before anybody has opened it. */
const ends: Record<string, () => Promise<string>> = {
  OpenID: async () => String((await browser.open(await begin())).headers.location),
  SAML: async () => {
    const request = samlRequestAt(await departFor(browser, 'sam@saml.test', { redirectURL: '/portal/reports' }));
    const answer = samlAnswer(portal, acme, request, { email: 'sam@saml.test' });
    return String((await postSamlAnswer(portal, browser, answer)).headers.location);
  },
};
const isWaiting = ({ statusCode, body }: Response) =>
  statusCode === 200 && /http-equiv="refresh" content="1;url=\/portal\/authenticate\//.test(body);

describe.each(Object.keys(ends))('the end of a visit by %s, if the first response is lost', (protocol) => {
  const end = async () => await (ends[protocol] as () => Promise<string>)();

  it('OI-13 SA-28 the second one leads where the first one led, into the same session', async () => {
    const url = await end();
    expect((await lose(url)).headers.location).toBe('/portal/reports');
    expect((await browser.get(url, crossSite)).headers.location).toBe('/portal/reports');
    expect(await who()).toBe(protocol === 'SAML' ? 'sam' : 'alice');
    expect([await sessions(), await count('signed-in'), await count('sso-refused')]).toEqual([1, 1, 0]);
    expect((await portal.sql`select from device`).length).toBe(1);
    expect((await portal.sql`select from mail where kind = 'newDevice'`).length).toBe(1);
    expect(Object.keys(browser.cookies).filter((name) => /visit|answer/.test(name))).toEqual([]);
  });

  it('in whatever order the responses arrive, the session that the browser holds is alive', async () => {
    const url = await end();
    const [one, other] = [await lose(url), await lose(url)];
    const tokens = [one, other].map(({ cookies }) => cookies.find(({ name }) => name === 'vestibule-session')?.value);
    for (const token of tokens)
      expect(await who({ ...browser, cookies: { 'vestibule-session': token ?? '' } })).not.toBeNull();
  });

  it('so does a session that waits for its second factor, with one code mailed', async () => {
    await portal.sql`update customer set two_factor = 'email'`;
    const url = await end();
    const first = (await lose(url)).headers.location;
    expect(first).toContain('/portal/twoFactor');
    expect((await browser.get(url, crossSite)).headers.location).toBe(first);
    expect([await sessions(), await count('second-factor-asked')]).toEqual([1, 1]);
  });

  it('so does a refusal: one failure is counted, with one reference', async () => {
    await portal.sql`update portal_user set active = false`;
    const url = await end();
    const first = await lose(url);
    expect(first.headers.location).toMatch(/^\/portal\/loginfail\//);
    const second = await browser.get(url, crossSite);
    expect(second.headers.location).toBe(first.headers.location);
    const [row] = await portal.sql`select reference from audit_event where event = 'sso-refused'`;
    expect((await browser.get(String(second.headers.location))).body).toContain(row?.reference);
    expect(await count('sso-refused')).toBe(1);
  });

  it('RC-04 not later than within seconds', async () => {
    const url = await end();
    await lose(url);
    portal.wait(limits.outcomeKept);
    expect((await browser.get(url, crossSite)).headers.location).toMatch(/^\/portal\/loginfail\//);
    expect(await who()).toBeNull();
  });

  it('SE-15 not after a sign-out, nor once the session has ended or has moved on', async () => {
    const url = await end();
    const { cookies } = await lose(url);
    const copy = { ...browser, cookies: { ...browser.cookies } };
    const session = cookies.find(({ name }) => name === 'vestibule-session')?.value ?? '';
    await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies: { 'vestibule-session': session } });
    expect((await lose(url)).headers.location).toMatch(/^\/portal\/loginfail\//);
    expect(await who(copy)).toBeNull();
    const next = await end();
    await lose(next);
    await browser.post('/portal/logout', {});
    expect((await browser.get(next, crossSite)).headers.location).not.toBe('/portal/reports');
    expect(await who()).toBeNull();
  });

  it('SA-42 not to another browser, with one of the two tokens', async () => {
    const url = await end();
    const held = { ...browser.cookies };
    await lose(url);
    for (const kept of [/visit/, /answer/, /nothing/]) {
      const cookies = Object.fromEntries(Object.entries(held).filter(([name]) => kept.test(name)));
      const { headers, cookies: given } = await portal.send({ url, cookies, ...crossSite });
      expect(headers.location).not.toBe('/portal/reports');
      expect(given.filter(({ name, value }) => name === 'vestibule-session' && value !== '')).toEqual([]);
    }
  });

  it('ten at once make one session, and none of them fails', async () => {
    const url = await end();
    const answers = await Promise.all(Array.from({ length: 10 }, () => lose(url)));
    const led = answers.filter(({ headers }) => headers.location === '/portal/reports');
    expect(led.length).toBeGreaterThan(0);
    expect(answers.filter((answer) => !led.includes(answer) && !isWaiting(answer))).toEqual([]);
    expect([await sessions(), await count('sso-refused')]).toEqual([1, 0]);
  });

  it('its tokens are sealed, and forgotten by housekeeping', async () => {
    const { cookies } = await lose(await end());
    const token = cookies.find(({ name }) => name === 'vestibule-session')?.value ?? '';
    const rows = async () => await portal.sql`select sealed_outcome from sso_request`;
    expect(JSON.stringify(await portal.sql`select encode(sealed_outcome, 'escape') from sso_request`)).not.toContain(
      token,
    );
    expect((await rows())[0]?.sealed_outcome).not.toBeNull();
    portal.wait(limits.outcomeKept);
    await keepHouse(portal.deps);
    expect((await rows())[0]?.sealed_outcome).toBeNull();
  });
});

describe('a callback that is loaded twice', () => {
  it('OI-13 while the code is being redeemed: the second waits for the first, and both lead on', async () => {
    const callback = await begin();
    let waiting: Response | null = null;
    as('alice@acme.test', async () => {
      await lose(callback);
      waiting = await browser.get(callback);
    });
    const first = await lose(callback);
    expect(isWaiting(waiting as unknown as Response)).toBe(true);
    expect(first.headers.location).toMatch(/^\/portal\/authenticate\/oidc\/finish\?/);
    expect((await browser.get(String(first.headers.location))).headers.location).toBe('/portal/reports');
    expect([await who(), await sessions()]).toEqual(['alice', 1]);
    expect(provider.requests.filter((path) => path === '/token').length).toBeGreaterThan(0);
  });

  it('OI-13 before and after its end, if every response was lost', async () => {
    const callback = await begin();
    await lose(callback);
    const { headers } = await browser.open(callback);
    expect((await lose(String(headers.location))).headers.location).toBe('/portal/reports');
    expect((await browser.get(callback)).headers.location).toBe('/portal/reports');
    expect([await who(), await sessions(), await count('signed-in')]).toEqual(['alice', 1, 1]);
  });

  it('SA-42 after its end, not in another browser that knows the address and has the cookie of the visit', async () => {
    const callback = await begin();
    const copy = browserForTest(portal);
    copy.cookies = { ...browser.cookies };
    await browser.get(callback);
    expect((await copy.get(callback)).headers.location).toMatch(/^\/portal\/loginfail\//);
    expect([await who(copy), await who()]).toEqual([null, 'alice']);
  });

  it('SA-42 nor in one that makes the answer’s cookie of the address by itself', async () => {
    const callback = await begin();
    const copy = browserForTest(portal);
    const state = new URL(callback, 'http://portal.test').searchParams.get('state') ?? '';
    const made = { [`vestibule-${answerCookie(state)}`]: hash('sha256', callback, 'base64url') };
    copy.cookies = { ...browser.cookies, ...made };
    await browser.get(callback);
    const end = `/portal/authenticate/oidc/finish?state=${state}`;
    expect((await copy.get(end)).headers.location).toMatch(/^\/portal\/loginfail\//);
    expect([await who(copy), await who()]).toEqual([null, 'alice']);
  });

  it('one that ended without a word is not waited for longer than a response may take', async () => {
    const callback = await begin();
    await portal.sql`update sso_request set answer_hash = ${Buffer.alloc(32)}, answer_ends_at = ${portal.deps.now()}`;
    expect((await browser.get(callback)).headers.location).toMatch(/^\/portal\/loginfail\/oidc/);
    expect(await sessions()).toBe(0);
  });

  it('OI-14 with another code: nobody is signed in by it', async () => {
    const callback = await begin();
    const first = await browser.open(callback);
    const other = callback.replace(/code=[^&]+/, 'code=of-somebody-else');
    expect((await browser.get(other)).headers.location).toMatch(/^\/portal\/loginfail\/oidc/);
    expect(String(first.headers.location)).toContain('/finish?');
    expect(await sessions()).toBe(0);
  });

  it('OI-01 whoever has copied the visit’s cookie beforehand gets nothing at its end', async () => {
    const callback = await begin();
    const thief = { ...browserForTest(portal), cookies: { ...browser.cookies } };
    const { location } = (await browser.open(callback)).headers;
    const { headers } = await portal.send({ url: String(location), cookies: thief.cookies });
    expect(headers.location).toMatch(/^\/portal\/loginfail\/oidc/);
    expect((await browser.get(String(location))).headers.location).toBe('/portal/reports');
  });
});

describe('while the code is being redeemed', () => {
  it('SE-15 somebody signs in in another tab: their session stays, and nothing else happens', async () => {
    const callback = await begin();
    as('alice@acme.test', async () => {
      await browser.post('/portal/performlogin', { username: 'bob', password: testPassword });
    });
    const { location } = (await browser.get(callback)).headers;
    expect(location).toBe('/portal/singleSignOn?notice=signInExpired');
    expect([await who(), await sessions(), await count('signed-in')]).toEqual(['bob', 1, 1]);
  });

  it('SE-15 somebody signs out in another tab: nobody is signed in', async () => {
    await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
    const callback = await begin();
    as('alice@acme.test', async () => {
      await browser.post('/portal/logout', {});
    });
    expect((await browser.get(callback)).headers.location).toBe('/portal/singleSignOn?notice=signInExpired');
    expect([await who(), await sessions()]).toEqual([null, 0]);
  });

  it('SE-15 the session of the end decides whether the person is asked', async () => {
    const callback = await begin();
    const { location } = (await browser.open(callback)).headers;
    const { cookies } = await portal.signIn('bob', testPassword);
    for (const { name, value } of cookies) if (name === 'vestibule-session') browser.cookies[name] = value;
    expect((await browser.get(String(location))).headers.location).toContain('/portal/authenticate/other-account?');
    expect(await who()).toBe('bob');
  });
});
