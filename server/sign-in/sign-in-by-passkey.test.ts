import { beforeEach, describe, expect, it } from 'vitest';
import { changeCustomer } from '#server/accounts/customers.ts';
import { limits } from '#server/limits.ts';
import { addAttackFixtures, addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { assertionOf, type Tweak } from '#test/support/passkey-for-test.ts';
import { challengeFor, givePasskey, postAssertion, signInWithPasskey } from '#test/support/passkey-sign-in-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { holdRows, untilWaiting, withFault } from '#test/support/rows-for-test.ts';
import { addConnection, browserForTest, sessionByConnection } from '#test/support/sso-for-test.ts';
import { codeNow, giveApp, halfSession, pageOf, step, verify } from '#test/support/two-factor-for-test.ts';
import { composeText } from '../mail/compose-mail.ts';

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

const half = async (username: string) => {
  const browser = browserForTest(portal);
  Object.assign(browser.cookies, await halfSession(portal, username));
  return browser;
};

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

  it('meets a two-factor policy alone', async () => {
    const browser = browserForTest(portal);
    await signInWithPasskey(browser, await givePasskey(portal, 'gwen'));
    expect(await signedInAs(portal, browser.cookies)).toBe('gwen');
    // As much as a code: what may be set up depends on it.
    expect(await portal.sql`select proof from session`).toEqual([{ proof: 'passkey' }]);
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

  it('is asked for a limited number of times from one address', async () => {
    const ask = () => portal.send({ method: 'POST', url: '/portal/passkeys/options' });
    expect((await ask()).statusCode).toBe(200);
    await portal.sql`update throttle set failures = ${limits.throttle.address.freeFailures * 20 + 50}`;
    expect((await ask()).statusCode).toBe(200);
    const refused = await ask();
    expect([refused.statusCode, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
    expect(
      (await portal.send({ method: 'POST', url: '/portal/passkeys/options', from: '198.51.100.9' })).statusCode,
    ).toBe(200);
  });

  it('counts to the largest count that there is, and no further', async () => {
    const passkey = await givePasskey(portal, 'alice', { counter: 0x7fff_fffe });
    for (const counter of [0x7fff_ffff, 0xffff_ffff]) {
      await signInWithPasskey(browserForTest(portal), passkey, { counter });
      expect((await portal.sql`select counter from passkey`)[0]?.counter).toBe(counter);
    }
    await signInWithPasskey(browserForTest(portal), passkey, { counter: 0xffff_ffff });
    expect(await lastEvent()).toMatchObject({ reason: 'counter-back' });
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

it('the cookie of ceremonies outlives them: a tab that begins one while another’s is open would end that', async () => {
  const begin = async (cookies = {}) => {
    const answer = await portal.send({ method: 'POST', url: '/portal/passkeys/options', cookies });
    return String(answer.headers['set-cookie']);
  };
  const first = await begin();
  expect(first).toMatch(/^vestibule-passkey=[\w-]{43};.*; Max-Age=86400$/);
  const [, token = ''] = /=([\w-]{43})/.exec(first) ?? [];
  portal.wait(301_000);
  expect(await begin({ 'vestibule-passkey': token })).toBe(first);
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

  it('a network that a customer admits', async () => {
    const browser = browserForTest(portal);
    await signInWithPasskey(browser, await givePasskey(portal, 'carol'), {}, {}, { from: '203.0.113.5' });
    expect(await portal.sql`select from session`).toHaveLength(1);
  });

  it('a customer that turns passkeys off is taken from the sessions that one has opened, and from no others', async () => {
    await portal.sql`insert into customer (key, name, created_at) values ('turns', 'Turns Ltd', now())`;
    await addUser(portal, { username: 'some', customers: ['acme', 'turns'] });
    await addUser(portal, { username: 'whole', customers: ['turns'] });
    const [some, whole, byPassword] = [browserForTest(portal), browserForTest(portal), browserForTest(portal)];
    await signInWithPasskey(some, await givePasskey(portal, 'some'));
    await signInWithPasskey(whole, await givePasskey(portal, 'whole'));
    await byPassword.post('/portal/performlogin', { username: 'some', password: testPassword });
    const customersOf = async (browser: typeof some) =>
      (await browser.get('/portal/session')).json<{ customers: string[] }>().customers;
    const both = ['acme', 'turns'];
    expect([await customersOf(some), await customersOf(byPassword)]).toEqual([both, both]);
    expect((await some.get('/portal/account')).body).toContain('Turns Ltd');
    await changeCustomer(portal.sql, 'turns', { passkeys: 'off' }, portal.deps.now());
    expect([await customersOf(some), await customersOf(byPassword)]).toEqual([['acme'], both]);
    expect((await some.get('/portal/account')).body).not.toContain('Turns Ltd');
    expect(await signedInAs(portal, whole.cookies)).toBeNull();
  });

  it('a user whose domain requires single sign-on is refused', async () => {
    await addUser(portal, { username: 'sam', email: 'sam@only.test', customers: ['app'] });
    await giveApp(portal, 'sam');
    const { cookies } = await half('sam');
    const isOffered = async () =>
      (await pageOf(portal, { url: '/portal/twoFactor', cookies })).secondFactor?.hasPasskey;
    const passkey = await givePasskey(portal, 'sam');
    expect(await isOffered()).toBe(true);
    const settings = {
      issuer: 'https://idp.only.test',
      clientId: 'x',
      clientAuthentication: 'secret' as const,
      scopes: [],
    };
    const [key, domains] = ['only', ['only.test']];
    await addConnection(portal, { key, customerKey: 'acme', protocol: 'oidc', settings, domains, required: true });
    await signInWithPasskey(browserForTest(portal), passkey);
    expect(await lastEvent()).toMatchObject({ reason: 'single-sign-on-required', username: 'sam' });
    expect(await portal.sql`select from session where stage = 'full'`).toHaveLength(0);
    await portal.sql`delete from sso_connection where key = 'only'`;
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

  it('a foreign destination leads to the default one, and is recorded', async () => {
    const passkey = await givePasskey(portal, 'alice');
    const answer = await signInWithPasskey(
      browserForTest(portal),
      passkey,
      {},
      { redirectURL: 'https://evil.example/' },
    );
    expect(answer.headers.location).toBe('/portal/portal.html');
    expect(await lastEvent()).toMatchObject({ event: 'destination-refused' });
  });

  it('a new browser is told by mail, a known one not', async () => {
    await portal.sql`update customer set new_device_mail = true where key = 'acme'`;
    const passkey = await givePasskey(portal, 'alice');
    const browser = browserForTest(portal);
    for (let n = 0; n < 2; n += 1) await signInWithPasskey(browser, passkey);
    portal.mails.length = 0;
    await portal.workOff();
    // A new password alone would leave the passkey to whoever has it.
    const said = composeText('en', 'mail-passkeyAdded-not-you');
    expect(portal.mails.map(({ subject, text }) => [subject, text.includes(said), text.includes('Test key')])).toEqual([
      [composeText('en', 'mail-newDevice-subject', { hub: 'Vestibule' }), true, true],
    ]);
    await portal.sql`update customer set new_device_mail = false`;
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

  it('nobody else at an address makes a browser wait in which somebody has signed in: it counts by itself', async () => {
    const passkey = await givePasskey(portal, 'alice');
    const browser = browserForTest(portal);
    await signInWithPasskey(browser, passkey);
    for (let n = 0; n < 30; n += 1) await postAssertion(browserForTest(portal), '{}');
    await portal.sql`
      update throttle set failures = 1e6, blocked_until = changed_at + interval '1 minute' where key like 'passkey-address:%'`;
    const options = async (cookies: Record<string, string>) =>
      (await portal.send({ method: 'POST', url: '/portal/passkeys/options', cookies })).statusCode;
    const madeUp = { 'vestibule-device': 'A'.repeat(43) };
    expect([await options({}), await options(madeUp), await options(browser.cookies)]).toEqual([429, 429, 200]);
    const known = { 'vestibule-device': browser.cookies['vestibule-device'] ?? '' };
    const other = browserForTest(portal);
    Object.assign(other.cookies, known);
    expect((await signInWithPasskey(other, passkey)).statusCode).toBe(303);
    for (let n = 0; n < 30; n += 1) await postAssertion(other, '{}');
    expect((await postAssertion(other, '{}')).statusCode).toBe(429);
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

describe('in place of a code', () => {
  it('completes the sign-in that a password began', async () => {
    const browser = await half('gwen');
    const answer = await signInWithPasskey(
      browser,
      await givePasskey(portal, 'gwen'),
      {},
      {},
      { kind: 'second-factor' },
    );
    expect(answer.headers.location).toBe('/portal/portal.html');
    expect(await signedInAs(portal, browser.cookies)).toBe('gwen');
    expect(await portal.sql`select stage from session`).toEqual([{ stage: 'full' }]);
  });

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

  it('makes the browser known for its password, which a passkey alone does not', async () => {
    const passkey = await givePasskey(portal, 'gwen');
    await signInWithPasskey(await half('gwen'), passkey, {}, {}, { kind: 'second-factor' });
    await signInWithPasskey(browserForTest(portal), passkey);
    const known = await portal.sql`select by_password as "byPassword" from device order by by_password`;
    expect(known).toEqual([{ byPassword: false }, { byPassword: true }]);
  });

  it('and a code at the same moment make one session of one half session, in each of ten rounds', async () => {
    const secret = await giveApp(portal, 'gwen');
    const passkey = await givePasskey(portal, 'gwen');
    for (let round = 0; round < 10; round += 1) {
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

  it('is offered where it would be taken', async () => {
    await portal.sql`insert into customer (key, name, created_at, passkeys, two_factor) values ('off', 'off', now(), 'off', 'app')`;
    await addUser(portal, { username: 'olga', customers: ['off'] });
    const isOffered = async (username: string) => {
      const { secondFactor } = await pageOf(portal, {
        url: '/portal/twoFactor',
        cookies: (await half(username)).cookies,
      });
      return secondFactor?.hasPasskey;
    };
    for (const username of ['gwen', 'olga']) await giveApp(portal, username);
    expect(await isOffered('gwen')).toBeUndefined();
    for (const username of ['gwen', 'olga']) await givePasskey(portal, username);
    expect([await isOffered('gwen'), await isOffered('olga')]).toEqual([true, undefined]);
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

  it('leads back to the code while the database is away', async () => {
    const passkey = await givePasskey(portal, 'gwen');
    const form = { redirectURL: '/portal/reports/7' };
    const browser = await half('gwen');
    const challenge = await challengeFor(browser, 'second-factor');
    const failing = { ...form, credential: assertionOf(passkey, { challenge }) };
    await withFault(portal, "before update on session for each row when (new.stage = 'full')", async () => {
      const url = '/portal/passkeys/second-factor';
      const shown = await pageOf(portal, { method: 'POST', url, form: failing, cookies: browser.cookies });
      const again = '/portal/twoFactor?redirectURL=%2Fportal%2Freports%2F7&notice=unavailable';
      expect([shown.status, shown.url]).toEqual([503, again]);
    });
  });

  it('not with the challenge of a sign-in', async () => {
    const passkey = await givePasskey(portal, 'gwen');
    const browser = await half('gwen');
    const credential = assertionOf(passkey, { challenge: await challengeFor(browser) });
    const answer = await postAssertion(browser, credential, {}, { kind: 'second-factor' });
    expect(answer.headers.location).toContain('notice=passkeyRefused');
    expect(await lastEvent()).toMatchObject({ event: 'passkey-refused', reason: 'challenge-unknown' });
  });

  it('not with the passkey of another user', async () => {
    const passkey = await givePasskey(portal, 'alice');
    const form = { redirectURL: '/portal/reports/7' };
    const answer = await signInWithPasskey(await half('gwen'), passkey, {}, form, { kind: 'second-factor' });
    const back = '/portal/twoFactorRegistration?redirectURL=%2Fportal%2Freports%2F7&notice=passkeyRefused';
    expect(answer.headers.location).toBe(back);
    expect(await lastEvent()).toMatchObject({ event: 'passkey-refused', reason: 'other-user' });
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

  it('not without a password before, nor after ten minutes, which the form says', async () => {
    const passkey = await givePasskey(portal, 'gwen');
    const late = await half('gwen');
    portal.wait(601_000);
    for (const browser of [late, browserForTest(portal)]) {
      const answer = await signInWithPasskey(browser, passkey, {}, { redirectURL: '/x' }, { kind: 'second-factor' });
      expect(answer.headers.location).toBe('/portal/login?notice=signInExpired&destination=%2Fx');
    }
    expect(await portal.sql`select from session where stage = 'full'`).toHaveLength(0);
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
