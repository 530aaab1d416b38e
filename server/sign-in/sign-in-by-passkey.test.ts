import { beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures, addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { assertionOf, newPasskey, type PasskeyForTest, type Tweak } from '#test/support/passkey-for-test.ts';
import {
  challengeFor,
  givePasskey,
  postAssertion,
  signInWithPasskey,
  userHandle,
} from '#test/support/passkey-sign-in-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import { addConnection, type BrowserForTest, browserForTest, sessionByConnection } from '#test/support/sso-for-test.ts';
import { codeNow, giveApp, halfSession, pageOf, step, verify } from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile({
  once: async (portal) => {
    await addAttackFixtures(portal);
    await addCustomer(portal, 'app', { twoFactor: 'app' });
    await addUser(portal, { username: 'gwen', customers: ['app'] });
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

  it.each([
    ['removed', 'unknown-passkey', "delete from passkey where name = 'raced'"],
    ['kept, and its user deactivated', 'inactive', "update portal_user set active = false where username = 'quit'"],
  ])('that is %s while its answer is checked is refused: %s', async (_what, reason, change) => {
    await portal.sql`delete from portal_user where username = 'quit'`;
    await addUser(portal, { username: 'quit', customers: ['acme'] });
    const passkey = await givePasskey(portal, 'quit', { counter: 7, name: 'raced' });
    const browser = browserForTest(portal);
    const challenge = await challengeFor(browser);
    const release = await holdRows(portal.sql, (sql) => sql.unsafe(change));
    const answer = postAssertion(browser, assertionOf(passkey, { challenge }));
    await untilWaiting(portal.sql, 1);
    await release();
    expect((await answer).headers.location).toBe('/portal/loginfail/passkey');
    expect(await lastEvent()).toMatchObject({ event: 'passkey-refused', reason, username: 'quit' });
  });

  it('whose count another answer has taken while this one is checked is refused', async () => {
    const passkey = await givePasskey(portal, 'alice', { counter: 7 });
    const [one, two] = [browserForTest(portal), browserForTest(portal)];
    const challenges = [await challengeFor(one), await challengeFor(two)];
    const release = await holdRows(portal.sql, (sql) => sql`select from passkey for update`);
    const answers = [one, two].map((browser, index) =>
      postAssertion(browser, assertionOf(passkey, { challenge: challenges[index] ?? '' }, { counter: 8 })),
    );
    await untilWaiting(portal.sql, 2);
    await release();
    const places = (await Promise.all(answers)).map(({ headers }) => headers.location);
    expect(places.filter((place) => place === '/portal/loginfail/passkey')).toHaveLength(1);
    expect(await portal.sql`select reason from audit_event where event = 'passkey-refused'`).toEqual([
      { reason: 'counter-back' },
    ]);
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

  it('a browser that keeps no cookies is told so', async () => {
    const passkey = await givePasskey(portal, 'alice');
    const challenge = await challengeFor(browserForTest(portal));
    const form = { redirectURL: '/portal/reports/7' };
    const answer = await postAssertion(browserForTest(portal), assertionOf(passkey, { challenge }), form);
    expect(answer.headers.location).toBe('/portal/login?notice=cookiesNeeded&destination=%2Fportal%2Freports%2F7');
    expect(await lastEvent()).toMatchObject({ event: 'passkey-refused', reason: 'challenge-unknown' });
    const other = browserForTest(portal);
    other.cookies.other = 'x';
    const again = await postAssertion(other, assertionOf(passkey, { challenge }), form);
    expect(again.headers.location).toBe('/portal/loginfail/passkey?destination=%2Fportal%2Freports%2F7');
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

it.each([
  ['from a network that is not admitted', 'carol', {}, 'network'],
  ['whose counter has not moved on, as of a passkey that was copied', 'alice', { counter: 7 }, 'counter-back'],
])(
  'a right answer %s is refused, and makes nobody else at the address wait',
  async (_what, username, tweak, reason) => {
    const passkey = await givePasskey(portal, username, { counter: 7 });
    for (let n = 0; n < 31; n += 1) await signInWithPasskey(browserForTest(portal), passkey, tweak);
    expect(await lastEvent()).toMatchObject({ event: 'passkey-refused', reason });
    expect(await portal.sql`select from throttle where key like 'passkey-failure%'`).toHaveLength(0);
  },
);

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

describe('the page of a refusal names a passkey, for what keeps it', () => {
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
    ['a challenge that is unknown', { challenge: 'A'.repeat(43) }, 'select'],
    ['a user who is inactive', {}, "update portal_user set active = false where username = 'alice'"],
  ])('one that somebody has is not, when it is refused for %s', async (_, tweak, change) => {
    const passkey = await givePasskey(portal, 'alice');
    await portal.sql.unsafe(change);
    expect(await told(browserForTest(portal), passkey, tweak)).toBeNull();
    await portal.sql`update portal_user set active = true`;
  });
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

  it('and a code at the same moment make one session of one half session, in each of three rounds', async () => {
    const secret = await giveApp(portal, 'gwen');
    const passkey = await givePasskey(portal, 'gwen');
    for (let round = 0; round < 3; round += 1) {
      await portal.sql.unsafe('delete from session; delete from throttle; delete from audit_event');
      portal.wait(2 * step);
      const browser = await half('gwen');
      const credential = assertionOf(passkey, { challenge: await challengeFor(browser, 'second-factor') });
      await Promise.all([
        verify(portal, codeNow(portal, secret), { ...browser.cookies }),
        browser.post('/portal/passkeys/second-factor', { credential }),
      ]);
      expect(await portal.sql`select stage from session`).toEqual([{ stage: 'full' }]);
      expect(await portal.sql`select from audit_event where event = 'signed-in'`).toHaveLength(1);
    }
    await portal.sql`delete from totp`;
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

  it('keeps its session, under another token; a second press leads where the first one led', async () => {
    const passkey = await givePasskey(portal, 'gwen');
    const browser = await half('gwen');
    const before = { ...browser.cookies };
    const [waiting] = await portal.sql<{ id: string }[]>`select id from session`;
    const credential = assertionOf(passkey, { challenge: await challengeFor(browser, 'second-factor') });
    const press = { ...browser.cookies };
    const answers = [];
    for (const cookies of [press, press])
      answers.push(
        await portal.send({ method: 'POST', url: '/portal/passkeys/second-factor', form: { credential }, cookies }),
      );
    const tokens = answers.map(({ cookies }) => cookies.find(({ name }) => name === 'vestibule-session')?.value);
    expect(answers.map(({ headers }) => headers.location)).toEqual(['/portal/portal.html', '/portal/portal.html']);
    expect(new Set(tokens).size).toBe(1);
    const rows = await portal.sql`select id, stage, waits_for as "waitsFor", proof from session`;
    expect(rows).toEqual([{ id: waiting?.id, stage: 'full', waitsFor: [], proof: 'passkey' }]);
    expect(await signedInAs(portal, before)).toBeNull();
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
