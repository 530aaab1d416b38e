import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, type PortalForTest, portalForTest, testPassword } from '#test/support/portal-for-test.ts';
import { poolOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase, holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import {
  addSamlConnection,
  postSamlAnswer,
  samlAnswer,
  samlProvider,
  samlProviderOfFile,
  samlRequestAt,
} from '#test/support/saml-for-test.ts';
import { type BrowserForTest, browserForTest, departFor, lastFailure } from '#test/support/sso-for-test.ts';
import {
  codeNow,
  giveApp,
  halfSession,
  registerApp,
  registrationUrl,
  sendUrl,
  triesCounted,
  verify,
} from '#test/support/two-factor-for-test.ts';
import { removeCustomer } from '../accounts/customers.ts';
import { changeConnection, removeConnection } from './change-connection.ts';
import type { SamlSettings } from './sso-connection.ts';
import { findSsoConnectionByKey } from './sso-connection.ts';
import { unlinkUser } from './sso-subject.ts';

const portal = portalOfFile();
const acme = samlProviderOfFile(portal, 'idp.acme.test');
const pool = poolOfFile(portal);

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'bob' });
  await addSamlConnection(portal, acme);
  browser = browserForTest(portal);
  portal.mails.length = 0;
});

/** Signs in by the provider, as far as it leads. */
async function signInByProvider(name = 'alice', by = browser): Promise<BrowserForTest> {
  const request = samlRequestAt(await departFor(by, `${name}@acme.test`));
  const answer = samlAnswer(portal, acme, request, { nameId: `subject of ${name}`, email: `${name}@acme.test` });
  await postSamlAnswer(portal, by, answer);
  return by;
}
const requireApp = async () => await portal.sql`update customer set two_factor = 'app'`;
const set = async (changes: Parameters<typeof changeConnection>[2]) =>
  await changeConnection(portal.deps, 'acme-saml', changes, portal.deps.now(), true);
const disable = async () => expect((await set({ active: false })).kind).toBe('changed');
const enable = async () => expect((await set({ active: true })).kind).toBe('changed');
const remove = async () =>
  expect((await removeConnection(portal.sql, 'acme-saml', portal.deps.now(), true)).kind).toBe('removed');
const requireIt = async () => expect((await set({ required: true })).kind).toBe('changed');

/** A code is not even checked, and nothing is left to ask for. */
async function expectNothingOpen(secret: string, cookies: Record<string, string>): Promise<void> {
  const answer = await verify(portal, codeNow(portal, secret), cookies);
  expect([answer.statusCode, answer.json().notice]).toEqual([401, 'signInExpired']);
  expect(await signedInAs(portal, { ...cookies, ...cookiesOf(answer) })).toBeNull();
  expect(await triesCounted(portal)).toEqual([0, 0, 0]);
}

describe('an open second factor', () => {
  it.each([
    ['switched off', disable],
    ['removed', remove],
  ])('SA-31 is not finished once its connection is %s', async (_, end) => {
    await requireApp();
    const secret = await giveApp(portal, 'alice');
    await signInByProvider();
    await end();
    await expectNothingOpen(secret, browser.cookies);
  });

  it.each([
    ['switched off', disable],
    ['removed', remove],
  ])('SA-31 is not finished by registering an app once its connection is %s', async (_, end) => {
    await requireApp();
    await portal.sql`update portal_user set password_hash = null`;
    await signInByProvider();
    const shown = await portal.send({ url: registrationUrl, cookies: browser.cookies });
    await end();
    expect((await portal.send({ url: registrationUrl, cookies: browser.cookies })).statusCode).toBe(401);
    await expectNothingOpen(shown.json<{ totpSecret: string }>().totpSecret, browser.cookies);
    expect(await portal.sql`select from totp`).toHaveLength(0);
  });

  it('SA-31 gets no code by email once its connection is switched off', async () => {
    await portal.sql`update customer set two_factor = 'email'`;
    await signInByProvider();
    portal.wait(120_000);
    await disable();
    const headers = { accept: 'application/json' };
    const asked = await portal.send({ method: 'POST', url: sendUrl, cookies: browser.cookies, headers });
    expect(asked.statusCode).toBe(401);
  });

  it('OI-35 after a password is not finished once the domain requires single sign-on', async () => {
    await requireApp();
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    await requireIt();
    await expectNothingOpen(secret, cookies);
  });

  it('is not consumed by a connection that ends while the code is checked', async () => {
    await requireApp();
    const secret = await giveApp(portal, 'alice');
    await signInByProvider();
    // The try is counted after the visitor was read, and before the session is locked.
    await portal.sql.unsafe(`
      create function switch_off() returns trigger language plpgsql as $$
      begin update sso_connection set active = false; return new; end $$;
      create trigger switch_off after update of code_tries on session for each row execute function switch_off()`);
    const answer = await verify(portal, codeNow(portal, secret), browser.cookies);
    await portal.sql`drop trigger switch_off on session`;
    await portal.sql`drop function switch_off()`;
    expect(answer.statusCode).toBe(401);
    expect(await portal.sql`select last_step::int as step from totp`).toEqual([{ step: 0 }]);
  });

  it('of another person continues: by password if a connection ends, by connection if one is required', async () => {
    await requireApp();
    const secret = await giveApp(portal, 'alice');
    const byPassword = await halfSession(portal, 'alice');
    await disable();
    expect((await verify(portal, codeNow(portal, secret), byPassword)).body).toBe('true');
    await enable();
    portal.wait(60_000);
    await signInByProvider();
    await requireIt();
    expect((await verify(portal, codeNow(portal, secret), browser.cookies)).body).toBe('true');
  });
});

describe('a session from a connection', () => {
  const session = async (at: PortalForTest) =>
    (await at.send({ url: '/portal/session', cookies: browser.cookies })).statusCode;
  const page = async (at: PortalForTest) =>
    (await at.send({ url: '/portal/portal.html', cookies: browser.cookies })).headers.location;

  it.each([
    ['switched off', disable],
    ['removed', remove],
    ['switched off by hand', async () => await portal.sql`update sso_connection set active = false`],
    ['removed by hand', async () => await portal.sql`delete from sso_connection`],
  ])('SE-12 ends at once, on every instance, when that is %s', async (_, end) => {
    const other = await portalForTest({}, portal);
    try {
      await signInByProvider();
      for (const at of [portal, other, portal]) expect(await session(at)).toBe(200);
      await end();
      for (const at of [portal, other]) {
        expect(await session(at)).toBe(401);
        expect(await page(at)).toBe('/portal/');
      }
    } finally {
      await other.close();
    }
  });

  it('SE-12 stays ended when that is switched on again: whoever it let in meanwhile is not let in again', async () => {
    await signInByProvider();
    await disable();
    await enable();
    expect(await session(portal)).toBe(401);
    expect(await portal.sql`select from session`).toHaveLength(0);
    const [event] =
      await portal.sql`select steps from audit_event where event = 'connection-changed' order by id limit 1`;
    expect(event?.steps).toEqual([
      { step: 'active', outcome: 'yes → no' },
      { step: 'sessions ended', outcome: '1' },
    ]);
  });

  it('SE-12 of another connection, or by password, goes on', async () => {
    await addSamlConnection(portal, await samlProvider('idp.other.test', portal.deps.now()), {
      key: 'other',
      domains: [],
    });
    await signInByProvider();
    const byPassword = cookiesOf(await portal.signIn('bob', testPassword));
    await changeConnection(portal.deps, 'other', { active: false }, portal.deps.now(), true);
    expect(await session(portal)).toBe(200);
    await disable();
    expect(await signedInAs(portal, byPassword)).toBe('bob');
  });

  it('SE-12 is removed with it, and the event counts it', async () => {
    await signInByProvider();
    await remove();
    expect(await portal.sql`select from session`).toHaveLength(0);
    const [event] = await portal.sql`select steps from audit_event where event = 'connection-removed'`;
    expect(event?.steps).toEqual([{ step: 'sessions ended', outcome: '1' }]);
  });

  it('SE-12 is not left over by a sign-in that is stored while that is switched off', async () => {
    const release = await holdRows(
      portal.sql,
      (sql) => sql`select from portal_user where username = 'alice' for update`,
    );
    const signingIn = signInByProvider();
    await untilWaiting(portal.sql, 1);
    const ending = disable();
    await untilWaiting(portal.sql, 2);
    await release();
    await signingIn;
    await ending;
    expect(await portal.sql`select from session`).toHaveLength(0);
  });
});

describe('a visit that has begun', () => {
  /** A visit of alice's whose answer waits to be brought. */
  const begun = async (by = browser) => {
    const request = samlRequestAt(await departFor(by, 'alice@acme.test'));
    const answer = samlAnswer(portal, acme, request, { nameId: 'subject of alice', email: 'alice@acme.test' });
    return async () => String((await postSamlAnswer(portal, by, answer)).headers.location);
  };
  const unlink = async () =>
    expect((await unlinkUser(portal.sql, 'acme-saml', 'alice', portal.deps.now())).kind).toBe('unlinked');
  const settingsWith = async (changes: Partial<SamlSettings>) => {
    const connection = await findSsoConnectionByKey(portal.sql, 'acme-saml');
    expect((await set({ settings: { ...connection?.settings, ...changes } as SamlSettings })).kind).toBe('changed');
  };
  const withOtherCertificate = async () =>
    await settingsWith({ certificates: [(await samlProvider('idp.acme.test', portal.deps.now())).key.certificate] });
  const expectNobody = async (location: string, by = browser) => {
    expect(location).toContain('/loginfail/saml');
    expect((await lastFailure(portal))?.reason).toBe('request-unknown');
    expect(await signedInAs(portal, by.cookies)).toBeNull();
    expect(await portal.sql`select from sso_subject`).toHaveLength(0);
  };

  it.each([
    ['alice is unlinked', unlink],
    ['the provider gets another certificate', withOtherCertificate],
    ['the provider becomes another one', async () => await settingsWith({ entityId: 'https://new.acme.test' })],
    ['the connection loses the domain', async () => void (await set({ domains: ['other.test'] }))],
    ['its unverified addresses stop counting', async () => void (await set({ trustsEmail: false }))],
    ['its addresses are read elsewhere', async () => void (await set({ attributes: { email: 'upn' } }))],
    ['it is named otherwise', async () => void (await set({ name: 'New name' }))],
    [
      'it is switched off and on',
      async () => {
        await disable();
        await enable();
      },
    ],
  ])('SA-31 SA-40 signs nobody in, and links nobody, from before %s', async (_, change) => {
    await signInByProvider('alice', browserForTest(portal));
    const other = browserForTest(portal);
    const answer = await begun(other);
    await change();
    await portal.sql`delete from sso_subject`;
    await expectNobody(await answer(), other);
  });

  it('SA-40 signs nobody in, and links nobody, if alice is unlinked while it is decided', async () => {
    await signInByProvider('alice', browserForTest(portal));
    const answer = await begun();
    const release = await holdRows(pool, (sql) => sql`select from portal_user where username = 'alice' for share`);
    const unlinking = unlink();
    await untilWaiting(pool, 1);
    const deciding = answer();
    await untilWaiting(pool, 2);
    await release();
    await unlinking;
    await expectNobody(await deciding);
  });

  it('SA-40 signs nobody in if its connection was read before a change that is stored first', async () => {
    const answer = await begun();
    const release = await holdRows(pool, (sql) => sql`lock table audit_event in exclusive mode`);
    const changing = withOtherCertificate();
    await untilWaiting(pool, 1);
    const deciding = answer();
    await untilWaiting(pool, 2);
    await release();
    await changing;
    await expectNobody(await deciding);
  });

  it('goes on if another connection changes', async () => {
    const other = await samlProvider('idp.other.test', portal.deps.now());
    await addSamlConnection(portal, other, { key: 'other', domains: ['other.test'] });
    const answer = await begun();
    await changeConnection(portal.deps, 'other', { active: false }, portal.deps.now(), true);
    await answer();
    expect(await signedInAs(portal, browser.cookies)).toBe('alice');
  });
});

describe('unlinking', () => {
  const unlink = async (name = 'alice') => await unlinkUser(portal.sql, 'acme-saml', name, portal.deps.now());

  it('SA-40 ends the sessions of the linked person, and reports that the account has an app', async () => {
    await portal.sql`update portal_user set password_hash = null where username = 'alice'`;
    const { cookies } = await registerApp(portal, (await signInByProvider()).cookies);
    expect(await signedInAs(portal, cookies)).toBe('alice');
    expect(await unlink()).toEqual({ kind: 'unlinked', sessionsEnded: 1, hasApp: true, rememberedDevices: 0 });
    expect(await signedInAs(portal, cookies)).toBeNull();
    const [event] = await portal.sql`select steps from audit_event where event = 'connection-unlinked'`;
    expect(event?.steps).toEqual([{ step: 'sessions ended', outcome: '1' }]);
  });

  it('SA-40 ends a sign-in that awaits its second factor', async () => {
    await requireApp();
    const secret = await giveApp(portal, 'alice');
    await signInByProvider();
    expect(await unlink()).toMatchObject({ sessionsEnded: 1, hasApp: true });
    await expectNothingOpen(secret, browser.cookies);
  });

  it('reports how many devices are remembered', async () => {
    await requireApp();
    const secret = await giveApp(portal, 'alice');
    await signInByProvider();
    await verify(portal, codeNow(portal, secret), browser.cookies, { query: '?remember=true' });
    expect(await unlink()).toMatchObject({ sessionsEnded: 1, rememberedDevices: 1 });
  });

  it('leaves sessions by password, by another connection and of other users', async () => {
    const other = await samlProvider('idp.other.test', portal.deps.now());
    await addSamlConnection(portal, other, { key: 'other', domains: ['other.test'] });
    const password = cookiesOf(await portal.signIn('alice', testPassword));
    const bob = await signInByProvider('bob', browserForTest(portal));
    const byOther = browserForTest(portal);
    await signInByProvider('alice', byOther);
    await portal.sql`update session set connection_id = (select id from sso_connection where key = 'other')
      where connection_id is not null and user_id = (select id from portal_user where username = 'alice')`;
    await signInByProvider();
    expect(await unlink()).toMatchObject({ sessionsEnded: 1, hasApp: false });
    expect(await signedInAs(portal, browser.cookies)).toBeNull();
    for (const [cookies, name] of [
      [password, 'alice'],
      [byOther.cookies, 'alice'],
      [bob.cookies, 'bob'],
    ] as const)
      expect(await signedInAs(portal, cookies)).toBe(name);
  });

  it('changes nothing if nobody is linked', async () => {
    expect(await unlink('bob')).toEqual({ kind: 'notLinked' });
    expect(await unlink('nobody')).toEqual({ kind: 'noUser' });
    expect(await portal.sql`select from audit_event where event = 'connection-unlinked'`).toHaveLength(0);
  });
});

it('a customer that is removed during a sign-in by its provider leaves nobody signed in, and the command does not fail', async () => {
  const left = await departFor(browser);
  const request = samlRequestAt(left);
  const answer = samlAnswer(portal, acme, request, { nameId: 'subject of alice', email: 'alice@acme.test' });
  const release = await holdRows(pool, (sql) => sql`select from membership for update`);
  const removing = removeCustomer(pool, 'acme', portal.deps.now(), true);
  await untilWaiting(pool, 1);
  await postSamlAnswer(portal, browser, answer);
  await release();
  expect((await removing).kind).toBe('removed');
  expect(await signedInAs(portal, browser.cookies)).toBeNull();
});
