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
import { otherInstanceOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import { addConnection, type BrowserForTest, browserForTest } from '#test/support/sso-for-test.ts';
import { halfSession } from '#test/support/two-factor-for-test.ts';

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
