import { beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures, addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { assertionOf, type Tweak } from '#test/support/passkey-for-test.ts';
import { challengeFor, givePasskey, postAssertion, signInWithPasskey } from '#test/support/passkey-sign-in-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { addConnection, browserForTest, sessionByConnection } from '#test/support/sso-for-test.ts';
import { codeNow, giveApp, halfSession, pageOf, verify } from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile({
  once: async (portal) => {
    await addAttackFixtures(portal);
    await addCustomer(portal, 'app', { twoFactor: 'app' });
    await addUser(portal, { username: 'gwen', customers: ['app'] });
    await addCustomer(portal, 'mail', { twoFactor: 'email' });
    await addUser(portal, { username: 'hugo', customers: ['mail'] });
    await addCustomer(portal, 'closed');
    await portal.sql`update customer set passkeys = 'off' where key = 'closed'`;
    await addUser(portal, { username: 'shut', customers: ['closed'] });
  },
});
const other = otherInstanceOfFile(portal);

beforeEach(async () => {
  await portal.sql.unsafe(
    'delete from session; delete from throttle; delete from audit_event; delete from passkey; delete from job; delete from device',
  );
});

const lastEvent = async () =>
  (await portal.sql`select event, reason, username, steps from audit_event order by id desc limit 1`)[0];

describe('a passkey', () => {
  it('signs in, in one post, to the asked page', async () => {
    const browser = browserForTest(portal);
    const form = { redirectURL: '/portal/reports/7?a=1#/b' };
    const answer = await signInWithPasskey(browser, await givePasskey(portal, 'alice'), {}, form);
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/portal/reports/7?a=1#/b']);
    expect(await signedInAs(portal, browser.cookies)).toBe('alice');
    expect(await lastEvent()).toMatchObject({ event: 'signed-in', username: 'alice' });
    const [row] = await portal.sql`select last_used_at as used from passkey`;
    expect(row?.used).toEqual(portal.deps.now());
  });

  it('gets the same options as anybody, but for the challenge', async () => {
    await givePasskey(portal, 'alice');
    const optionsOf = async (cookies = {}) => {
      const answer = await portal.send({ method: 'POST', url: '/portal/passkeys/options', cookies });
      return { ...answer.json<{ challenge?: string }>(), challenge: '' };
    };
    const signedIn = browserForTest(portal);
    await signInWithPasskey(signedIn, await givePasskey(portal, 'bob'));
    const nobody = await optionsOf();
    expect(nobody).toEqual({ challenge: '', rpId: 'localhost', timeout: 300_000, userVerification: 'required' });
    expect(await optionsOf(signedIn.cookies)).toEqual(nobody);
    expect(await optionsOf(await halfSession(portal, 'gwen'))).toEqual(nobody);
  });
});

describe('the rules of every way in', () => {
  it.each([
    ['an inactive user', 'dave', 'inactive', '/portal/loginfail/passkey'],
    ['a user of no customer', 'erin', 'no-customer', '/portal/loginfail/passkey'],
    ['a network that no customer admits', 'carol', 'network', '/portal/loginfail/ip?ipaddress=198.51.100.7'],
    ['a user whose customer takes no passkeys', 'shut', 'passkeys-off', '/portal/loginfail/passkey'],
  ])('%s is refused', async (_what, username, reason, location) => {
    const browser = browserForTest(portal);
    const answer = await signInWithPasskey(browser, await givePasskey(portal, username));
    expect(answer.headers.location).toBe(location);
    expect(await lastEvent()).toMatchObject({ event: 'passkey-refused', reason, username });
    expect(await portal.sql`select from session`).toHaveLength(0);
  });

  it('a user whose domain requires single sign-on is refused', async () => {
    await addUser(portal, { username: 'sam', email: 'sam@only.test', customers: ['app'] });
    const [issuer, clientAuthentication] = ['https://idp.only.test', 'secret' as const];
    const settings = { issuer, clientId: 'x', clientAuthentication, scopes: [] };
    const [key, domains] = ['only', ['only.test']];
    await addConnection(portal, { key, customerKey: 'acme', protocol: 'oidc', settings, domains, required: true });
    await signInWithPasskey(browserForTest(portal), await givePasskey(portal, 'sam'));
    expect(await lastEvent()).toMatchObject({ reason: 'single-sign-on-required', username: 'sam' });
    expect(await portal.sql`select from session`).toHaveLength(0);
  });

  it('many refused answers of one address make it wait for a minute, others not', async () => {
    const passkey = await givePasskey(portal, 'alice');
    const status = async (from?: string) =>
      (await signInWithPasskey(browserForTest(portal), passkey, {}, {}, from ? { from } : {})).statusCode;
    for (let n = 0; n < 30; n += 1) await postAssertion(browserForTest(portal), '{}');
    expect([await status(), await status('203.0.113.9')]).toEqual([429, 303]);
    portal.wait(60_000);
    expect(await status()).toBe(303);
  });
});

it('50 uses of one assertion at once, over two instances, give one session', async () => {
  const passkey = await givePasskey(portal, 'alice');
  const browser = browserForTest(portal);
  const challenge = await challengeFor(browser);
  const credential = assertionOf(passkey, { challenge });
  const form = { credential };
  const { cookies } = browser;
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      (n % 2 ? portal : other).send({ method: 'POST', url: '/portal/passkeys/sign-in', form, cookies: { ...cookies } }),
    ),
  );
  const locations = answers.map(({ headers }) => headers.location);
  expect(locations.filter((location) => location === '/portal/portal.html')).toHaveLength(1);
  expect(await portal.sql`select from session`).toHaveLength(1);
});

const half = async (username: string) => {
  const browser = browserForTest(portal);
  Object.assign(browser.cookies, await halfSession(portal, username));
  return browser;
};

describe('in place of a code', () => {
  it.each([
    ['is signed in', 'frank', '/portal/login?notice=signInExpired&destination=%2Fportal%2Freports%2F7'],
    [
      'is at their own code',
      'gwen',
      '/portal/twoFactorRegistration?redirectURL=%2Fportal%2Freports%2F7&notice=passkeyRefused',
    ],
  ])('SE-15 is taken for nobody else, who %s by now', async (_what, other, url) => {
    await addUser(portal, { username: `hugo-${other}`, customers: ['app'] });
    const passkey = await givePasskey(portal, `hugo-${other}`);
    const browser = await half(`hugo-${other}`);
    const credential = assertionOf(passkey, { challenge: await challengeFor(browser, 'second-factor') });
    await browser.post('/portal/performlogin', { username: other, password: testPassword });
    const form = { redirectURL: '/portal/reports/7' };
    const answer = await postAssertion(browser, credential, form, { kind: 'second-factor' });
    expect([answer.headers.location, answer.cookies]).toEqual([url, []]);
  });

  it.each([
    ['a customer of this sign-in takes none: its session would leave that one out', ['stern', 'open']],
    ['the customer that takes it does not admit this address', ['stern', 'away']],
  ])('is neither offered nor taken where %s; the code still is', async (_what, customers) => {
    await portal.sql`delete from customer where key in ('stern', 'open', 'away')`;
    await addCustomer(portal, 'stern', { twoFactor: 'app' });
    await portal.sql`update customer set passkeys = 'off' where key = 'stern'`;
    await addCustomer(portal, 'open');
    await addCustomer(portal, 'away', { networks: ['203.0.113.0/24'] });
    const username = customers.join('-');
    await addUser(portal, { username, customers });
    const secret = await giveApp(portal, username);
    const passkey = await givePasskey(portal, username);
    const browser = await half(username);
    const { cookies } = browser;
    expect((await pageOf(portal, { url: '/portal/twoFactor', cookies })).secondFactor).not.toHaveProperty('hasPasskey');
    const answer = await signInWithPasskey(browser, passkey, {}, {}, { kind: 'second-factor' });
    expect(answer.headers.location).toBe('/portal/twoFactor?notice=passkeyRefused');
    expect(await lastEvent()).toMatchObject({ event: 'passkey-refused', reason: 'passkeys-off', username });
    expect((await verify(portal, codeNow(portal, secret), cookies)).body).toBe('true');
  });

  it('counts with the codes: after five that are refused the sign-in is over, for a right one, too', async () => {
    const passkey = await givePasskey(portal, 'gwen');
    const browser = await half('gwen');
    const wrong = { signWith: (await givePasskey(portal, 'alice')).privateKey };
    const form = { redirectURL: '/portal/reports/7' };
    const kind = 'second-factor' as const;
    const answer = async (tweak: Tweak) =>
      (await signInWithPasskey(browser, passkey, tweak, form, { kind })).headers.location;
    const back = '/portal/twoFactorRegistration?redirectURL=%2Fportal%2Freports%2F7&notice=passkeyRefused';
    for (let n = 0; n < 4; n += 1) expect(await answer(wrong)).toBe(back);
    const over = '/portal/login?notice=tooManyCodes&destination=%2Fportal%2Freports%2F7';
    expect([await answer(wrong), await answer({})]).toEqual([over, over]);
    expect(await lastEvent()).toMatchObject({ event: 'second-factor-ended', username: 'gwen' });
    expect(await portal.sql`select from session where stage = 'full'`).toHaveLength(0);
  });

  it.each(['challenge-unknown', 'other-user'])('is refused for %s', async (reason) => {
    const browser = await half('gwen');
    const passkey = await givePasskey(portal, reason === 'other-user' ? 'alice' : 'gwen');
    const challenge = await challengeFor(browser, reason === 'other-user' ? 'second-factor' : undefined);
    const answer = await postAssertion(browser, assertionOf(passkey, { challenge }), {}, { kind: 'second-factor' });
    expect(answer.headers.location).toBe('/portal/twoFactorRegistration?notice=passkeyRefused');
    expect(await lastEvent()).toMatchObject({ event: 'passkey-refused', reason });
    expect(await portal.sql`select from session where stage = 'full'`).toHaveLength(0);
  });

  it('not in a sign-in that a provider began', async () => {
    const browser = await half('gwen');
    await sessionByConnection(portal, 'gwen', 'app');
    const passkey = await givePasskey(portal, 'gwen');
    const answer = await signInWithPasskey(browser, passkey, {}, {}, { kind: 'second-factor' });
    expect(answer.headers.location).toBe('/portal/twoFactorRegistration?notice=passkeyRefused');
    expect(await lastEvent()).toMatchObject({ event: 'passkey-refused', reason: 'by-provider', username: 'gwen' });
    expect(await portal.sql`select from session where stage = 'full'`).toHaveLength(0);
  });
});

const start = '/portal/portal.html';
const form = (username: string, redirectURL: string) => ({ username, password: testPassword, redirectURL });
const headers = { 'sec-fetch-mode': 'navigate' };

/** Follows redirects as a browser that keeps no cookie; gives the last page, and how many redirects led there. */
async function withoutCookies(username: string, redirectURL: string) {
  const url = '/portal/performlogin';
  let answer = await portal.send({ method: 'POST', url, form: form(username, redirectURL), headers });
  let steps = 0;
  for (; answer.headers.location && steps < 5; steps += 1)
    answer = await portal.send({ url: String(answer.headers.location) });
  return { ...answer, steps };
}

describe('without JavaScript, a browser that keeps no cookie', () => {
  it.each(['alice', 'gwen', 'hugo'])('is told so after the sign-in of %s, beside the form', async (username) => {
    const { statusCode, body, steps } = await withoutCookies(username, '/portal/reports/7');
    expect([statusCode, steps]).toEqual([200, 1]);
    expect(body).toContain('Cookies are blocked');
    expect(body).toMatch(/<input type="hidden" name="redirectURL" value="\/portal\/reports\/7"/);
  });
});

describe('a browser that keeps them', () => {
  it.each([
    ['alice', '/portal/reports/7?a=1#/b', ['/portal/reports/7?a=1#/b']],
    ['alice', '/portal', ['/portal/portal.html']],
    ['gwen', '/portal/reports/7', [`/portal/twoFactorRegistration?redirectURL=%2Fportal%2Freports%2F7`]],
    ['hugo', '/portal/reports/7', [expect.stringMatching(/^\/portal\/twoFactor.*reports%2F7&codeSentViaEmail=true$/)]],
  ])(
    'goes on at once as %s to %s, by one more redirect and only the first time',
    async (username, redirectURL, [end]) => {
      const browser = browserForTest(portal);
      const first = await browser.post('/portal/performlogin', form(username, redirectURL), { headers });
      expect(first.headers.location).toContain('notice=cookiesNeeded');
      const next = await browser.get(String(first.headers.location));
      expect([next.statusCode, next.headers.location]).toEqual([302, end]);
      const again = await browser.post('/portal/performlogin', form(username, redirectURL), { headers });
      expect(String(again.headers.location)).not.toContain('cookiesNeeded');
    },
  );
});

it('a page requested before sign-in is reached afterwards, despite a failed attempt', async () => {
  const asked = '/portal/portal.html?x=1&y=a%20b';
  const toForm = await portal.send({ url: asked });
  expect(toForm.statusCode).toBe(302);
  expect(toForm.headers.location).toBe(`/portal/?${new URLSearchParams({ destination: asked })}`);
  const form = { username: 'alice', password: 'a slip', redirectURL: asked };
  const failed = await portal.signIn('', '', { form });
  expect(failed.headers.location).toBe(`/portal/loginfail/default?${new URLSearchParams({ destination: asked })}`);
  const page = await portal.send({ url: String(failed.headers.location) });
  expect(page.body).toContain(
    `destination=${encodeURIComponent(asked)}`.replaceAll('%20', '+').replaceAll('&', '&amp;'),
  );
  const signedIn = await portal.signIn('', '', { form: { ...form, password: testPassword } });
  expect(signedIn.headers.location).toBe(asked);
  expect((await portal.send({ url: '/portal/portal.html' })).headers.location).toBe('/portal/');
});

it('a signed-in visitor is redirected from every address of the form', async () => {
  const cookies = cookiesOf(await portal.signIn('alice', testPassword));
  for (const url of ['/portal', '/portal/', '/portal/login', '/portal/login/', '/portal/login?lang=xx'])
    expect((await portal.send({ url, cookies })).headers.location, url).toBe(start);
  const chosen = await portal.send({ url: '/portal/login?lang=de', cookies });
  expect(chosen.headers.location).toBe(`${start}?lang=de`);
  expect((await portal.send({ url: '/portal/login' })).statusCode).toBe(200);
});
