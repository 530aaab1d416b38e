import { beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures, addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { assertionOf, type Tweak } from '#test/support/passkey-for-test.ts';
import { challengeFor, givePasskey, postAssertion, signInWithPasskey } from '#test/support/passkey-sign-in-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { browserForTest, sessionByConnection } from '#test/support/sso-for-test.ts';
import { codeNow, giveApp, halfSession, pageOf, step, verify } from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile({
  once: async (portal) => {
    await addAttackFixtures(portal);
    await addCustomer(portal, 'app', { twoFactor: 'app' });
    await addUser(portal, { username: 'gwen', customers: ['app'] });
  },
});

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
