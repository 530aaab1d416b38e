import { describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, poolOfFile } from '#test/support/portal-of-file.ts';
import { holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import { postSamlAnswer, samlAnswer, samlProvider, samlRequestAt, signInBySaml } from '#test/support/saml-for-test.ts';
import { type BrowserForTest, browserForTest, departFor } from '#test/support/sso-for-test.ts';
import { ssoOfFile } from '#test/support/sso-of-file.ts';
import {
  codeNow,
  giveApp,
  halfSession,
  registrationUrl,
  triesCounted,
  verify,
} from '#test/support/two-factor-for-test.ts';
import { removeCustomer } from '../accounts/customers.ts';
import { type ChangeOfConnection, changeConnection, removeConnection } from './change-connection.ts';
import { findSsoConnectionByKey, type SamlSettings } from './sso-connection.ts';
import { unlinkUser } from './sso-subject.ts';

let browser: BrowserForTest;
const { portal, idps, who, sessions, reason } = ssoOfFile({
  people: ['alice', 'bob', { username: 'gina', email: 'Gina@Pärtner.test' }],
  saml: { acme: { domains: ['acme.test', 'xn--prtner-bua.test'] }, other: { key: 'other', domains: [] } },
  also: (portal) => {
    browser = browserForTest(portal);
  },
});
const { acme } = idps;
const second = otherInstanceOfFile(portal);
const pool = poolOfFile(portal);

const emails = { alice: 'alice@acme.test', bob: 'bob@acme.test', gina: 'gina@pärtner.test' };
const said = (name: keyof typeof emails) => ({ nameId: `subject of ${name}`, email: emails[name] });
/** Signs in by the provider, as far as that leads. */
async function signIn(name: keyof typeof emails = 'alice'): Promise<BrowserForTest> {
  const by = browserForTest(portal);
  await signInBySaml(portal, acme, by, said(name));
  return by;
}
const demand = (twoFactor: string) => portal.sql`update customer set two_factor = ${twoFactor}`;
const now = () => portal.deps.now();
const set = (changes: ChangeOfConnection, isAgreed = true, key = 'acme-saml') =>
  changeConnection(portal.deps, key, changes, portal.by(), isAgreed);
const disable = () => set({ active: false });
const remove = () => removeConnection(portal.sql, 'acme-saml', portal.by(), true);
const unlink = (name = 'alice') => unlinkUser(portal.sql, 'acme-saml', name, portal.by());
const stepsOf = async (event: string) =>
  (await portal.sql`select steps from audit_event where event = ${event} order by id limit 1`)[0]?.steps;

/** A code is not even checked, and nothing is left to ask for. */
async function expectNothingOpen(secret: string, cookies: Record<string, string>): Promise<void> {
  const answer = await verify(portal, codeNow(portal, secret), cookies);
  expect([answer.statusCode, answer.json().notice]).toEqual([401, 'signInExpired']);
  expect(await signedInAs(portal, { ...cookies, ...cookiesOf(answer) })).toBeNull();
  expect(await triesCounted(portal)).toEqual([0, 0, 0]);
}

describe('a session from a connection', () => {
  it.each<[string, () => unknown]>([
    ['switched off', disable],
    ['removed', remove],
    ['switched off by hand', () => portal.sql`update sso_connection set active = false`],
    ['removed by hand', () => portal.sql`delete from sso_connection`],
  ])('SE-12 ends at once, on every instance, when that is %s; one by password goes on', async (how, end) => {
    const { cookies } = await signIn();
    const byPassword = cookiesOf(await portal.signIn('bob', testPassword));
    const both = async (url: string) => await Promise.all([portal, second].map((at) => at.send({ url, cookies })));
    expect((await both('/portal/session')).map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    await set({ active: false }, true, 'other');
    expect(await signedInAs(portal, cookies)).toBe('alice');
    await end();
    expect((await both('/portal/session')).map(({ statusCode }) => statusCode)).toEqual([401, 401]);
    const pages = (await both('/portal/portal.html')).map(({ headers }) => headers.location);
    expect([...pages, await signedInAs(portal, byPassword)]).toEqual(['/portal/', '/portal/', 'bob']);
    // It stays ended when that is switched on again.
    if (how === 'switched off') await set({ active: true });
    expect(await signedInAs(portal, cookies)).toBeNull();
  });

  it('SE-12 is not left over by a sign-in that is stored while that is switched off', async () => {
    const release = await holdRows(pool, (sql) => sql`select from portal_user where username = 'alice' for update`);
    const signingIn = signIn();
    await untilWaiting(pool, 1);
    const ending = disable();
    await untilWaiting(pool, 2);
    await release();
    await Promise.all([signingIn, ending]);
    expect(await sessions()).toBe(0);
  });
});

describe('an open second factor', () => {
  it.each<[string, () => unknown]>([
    ['switched off', disable],
    ['removed', remove],
  ])('SA-31 is not finished once its connection is %s; one by password is', async (_, end) => {
    await demand('app');
    await portal.sql`update portal_user set password_hash = null where username = 'bob'`;
    const secret = await giveApp(portal, 'alice');
    const [alice, bob, byPassword] = [await signIn(), await signIn('bob'), await halfSession(portal, 'alice')];
    const shown = await portal.send({ url: registrationUrl, cookies: bob.cookies });
    await end();
    await expectNothingOpen(secret, alice.cookies);
    expect((await portal.send({ url: registrationUrl, cookies: bob.cookies })).statusCode).toBe(401);
    await expectNothingOpen(shown.json<{ totpSecret: string }>().totpSecret, bob.cookies);
    expect((await verify(portal, codeNow(portal, secret), byPassword)).body).toBe('true');
  });

  it('OI-35 after a password is not finished once the domain requires single sign-on; one by the provider is', async () => {
    await demand('app');
    const secret = await giveApp(portal, 'alice');
    const [byPassword, byProvider] = [await halfSession(portal, 'alice'), await signIn()];
    await set({ required: true });
    await expectNothingOpen(secret, byPassword);
    expect((await verify(portal, codeNow(portal, secret), byProvider.cookies)).body).toBe('true');
  });
});

describe('a visit that has begun', () => {
  /** A visit of alice's whose answer waits to be brought. */
  const begun = async () => {
    const request = samlRequestAt(await departFor(browser, emails.alice));
    const answer = samlAnswer(portal, acme, request, said('alice'));
    return async () => String((await postSamlAnswer(portal, browser, answer)).headers.location);
  };
  const settingsWith = async (changes: Partial<SamlSettings>) => {
    const connection = await findSsoConnectionByKey(portal.sql, 'acme-saml');
    await set({ settings: { ...connection?.settings, ...changes } as SamlSettings });
  };
  const withOtherCertificate = async () =>
    await settingsWith({ certificates: [(await samlProvider('idp.acme.test', now())).key.certificate] });
  const expectNobody = async (location: string) => {
    expect(location).toContain('/loginfail/saml');
    expect(await reason()).toMatch(/^(?:request-unknown|answer-invalid)$/);
    expect(await who(browser)).toBeNull();
    expect(await portal.sql`select from sso_subject`).toHaveLength(0);
  };

  it.each<[string, () => unknown]>([
    ['alice is unlinked', unlink],
    ['the provider gets another certificate', withOtherCertificate],
    ['the provider becomes another one', () => settingsWith({ entityId: 'https://new.acme.test' })],
    ['the connection loses the domain', () => set({ domains: ['other.test'] })],
    ['its unverified addresses stop counting', () => set({ trustsEmail: false })],
    ['its addresses are read elsewhere', () => set({ attributes: { email: 'upn' } })],
    ['it is switched off and on', async () => [await disable(), await set({ active: true })]],
  ])('SA-31 SA-40 signs nobody in, and links nobody, from before %s', async (_, change) => {
    await signIn();
    const answer = await begun();
    await change();
    await portal.sql`delete from sso_subject`;
    await expectNobody(await answer());
  });

  it.each<[string, string, () => unknown]>([
    ['alice is unlinked while it is decided', 'portal_user', unlink],
    ['a change that is stored first changes its connection', 'audit_event', withOtherCertificate],
  ])('SA-40 signs nobody in, and links nobody, if %s', async (_, table, change) => {
    await signIn();
    await portal.sql`delete from session`;
    const answer = await begun();
    const release = await holdRows(pool, (sql) => sql`lock table ${sql(table)} in exclusive mode`);
    const changing = change();
    await untilWaiting(pool, 1);
    const deciding = answer();
    await untilWaiting(pool, 2);
    await release();
    await changing;
    await portal.sql`delete from sso_subject`;
    await expectNobody(await deciding);
  });

  it('signs nobody in if its customer is removed meanwhile, and the command does not fail', async () => {
    const answer = await begun();
    const release = await holdRows(pool, (sql) => sql`select from membership for update`);
    const removing = removeCustomer(pool, 'acme', portal.by(), true);
    await untilWaiting(pool, 1);
    await answer();
    await release();
    expect((await removing).kind).toBe('removed');
    expect(await who(browser)).toBeNull();
  });
});

it('SA-40 unlinking ends what the linked person opened, half sessions too, and reports what they may have set up', async () => {
  const [full, bob] = [await signIn(), await signIn('bob')];
  const byPassword = cookiesOf(await portal.signIn('alice', testPassword));
  await demand('app');
  const secret = await giveApp(portal, 'alice');
  const half = await signIn();
  expect(await unlink()).toEqual({ kind: 'unlinked', sessionsEnded: 2, hasApp: true, rememberedDevices: 0 });
  await expectNothingOpen(secret, half.cookies);
  expect([await who(full), await signedInAs(portal, byPassword), await who(bob)]).toEqual([null, 'alice', 'bob']);
  expect(await stepsOf('connection-unlinked')).toEqual([{ step: 'sessions ended', outcome: '2' }]);
  expect([await unlink(), await unlink('nobody')]).toEqual([{ kind: 'notLinked' }, { kind: 'noUser' }]);
});

it('SA-40 whoever a connection vouched for in a domain that it loses is unlinked, and their sessions end, half ones too', async () => {
  const [gina, alice] = [await signIn('gina'), await signIn()];
  await demand('email');
  await signIn('gina');
  expect(await set({ domains: ['acme.test'] })).toMatchObject({ kind: 'changed', sessionsEnded: 2, usersUnlinked: 1 });
  expect([await who(gina), await who(alice)]).toEqual([null, 'alice']);
  await signInBySaml(portal, acme, browser, { typed: emails.alice, ...said('gina') });
  expect([await who(browser), await reason()]).toEqual([null, 'foreign-domain']);
});
