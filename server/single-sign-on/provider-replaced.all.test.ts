import type { ServerResponse } from 'node:http';
import { beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { holdRows, untilWaiting } from '#testing/held-rows.ts';
import { poolOfFile } from '#testing/pool-of-file.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  addSamlConnection,
  crossSite,
  postSamlAnswer,
  samlAnswer,
  samlProvider,
  samlRequestAt,
} from '#testing/saml-sign-in-for-test.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  followLeavePage,
  lastFailure,
  pathOf,
} from '#testing/sso-for-test.ts';
import { codeByMail } from '#testing/two-factor-for-test.ts';
import { findSsoConnectionByKey } from '../storage/sso-connection.ts';
import { type ChangeOfConnection, changeConnection } from './change-connection.ts';
import { providerBelieved } from './oidc/keep-fresh.ts';
import { removeConnection } from './remove-connection.ts';

const portal = portalOfFile();
const pool = poolOfFile(portal);
const old = sharedByFile(() => startForgedProvider(portal.deps));
const next = sharedByFile(() => startForgedProvider(portal.deps));
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
});

const alice = { sub: '1007', email: 'alice@acme.test', email_verified: true };
const stranger = { sub: '1007', email: 'mallory@elsewhere.test', email_verified: false };

async function visit(provider: typeof old, said: object, browser = browserForTest(portal)) {
  provider.bend({ claims: (honest) => ({ ...honest, ...said }) });
  await browser.get(pathOf(provider.visit(await departFor(browser, 'alice@acme.test'))));
  return browser;
}

/** Changes settings of a connection as `connection set` does. */
async function set(key: string, settings: object, more: ChangeOfConnection = {}, isAgreed = true) {
  const before = await findSsoConnectionByKey(portal.sql, key);
  const changes = { ...more, settings: { ...before?.settings, ...settings } } as ChangeOfConnection;
  return await changeConnection(portal.deps, key, changes, portal.deps.now(), isAgreed);
}

it('a subject of the provider before is nobody at the next: its sessions end, its users are linked again', async () => {
  await addOidcConnection(portal, old);
  const before = await visit(old, alice);
  expect(await signedInAs(portal, before.cookies)).toBe('alice');
  expect(await set('acme-oidc', { issuer: next.issuer })).toMatchObject({ sessionsEnded: 1, usersUnlinked: 1 });
  expect(await signedInAs(portal, before.cookies)).toBeNull();
  expect(await signedInAs(portal, (await visit(next, stranger)).cookies)).toBeNull();
  expect(await signedInAs(portal, (await visit(next, { ...alice, sub: 'b7c1' })).cookies)).toBe('alice');
});

it('nothing changes until the operator agrees that users are unlinked', async () => {
  await addOidcConnection(portal, old);
  const before = await visit(old, alice);
  const asked = await set('acme-oidc', { issuer: next.issuer }, {}, false);
  expect(asked).toMatchObject({ kind: 'notAgreed', follows: { unlinked: 1, opened: [], lockedOut: [] } });
  expect(await signedInAs(portal, before.cookies)).toBe('alice');
  expect((await findSsoConnectionByKey(portal.sql, 'acme-oidc'))?.settings).toMatchObject({ issuer: old.issuer });
});

it('a provider that has only another name keeps its users and sessions', async () => {
  await addOidcConnection(portal, old);
  const before = await visit(old, alice);
  const changed = await set('acme-oidc', { issuer: next.issuer }, { keepsLinks: true }, false);
  expect(changed).toMatchObject({ kind: 'changed', sessionsEnded: 0, usersUnlinked: 0 });
  expect(await signedInAs(portal, before.cookies)).toBe('alice');
  expect(await signedInAs(portal, (await visit(next, { ...alice, email_verified: false })).cookies)).toBe('alice');
});

it('another client of the same provider keeps them too', async () => {
  await addOidcConnection(portal, old);
  const before = await visit(old, alice);
  expect(await set('acme-oidc', { clientId: 'another' }, {}, false)).toMatchObject({
    kind: 'changed',
    usersUnlinked: 0,
  });
  expect(await signedInAs(portal, before.cookies)).toBe('alice');
});

it('a code of the provider before is never sent to the next', async () => {
  await addOidcConnection(portal, old);
  const browser = browserForTest(portal);
  const back = old.visit(await departFor(browser, 'alice@acme.test'));
  await set('acme-oidc', { issuer: next.issuer });
  next.tokenRequests.length = 0;
  await browser.get(pathOf(back));
  expect(next.tokenRequests).toEqual([]);
  expect(await signedInAs(portal, browser.cookies)).toBeNull();
  expect((await lastFailure(portal))?.reason).toBe('request-unknown');
});

it.each([
  ['another issuer', async () => await set('acme-oidc', { issuer: next.issuer })],
  ['another client', async () => await set('acme-oidc', { clientId: 'another' })],
  ['a removal', async () => await removeConnection(portal.sql, 'acme-oidc', portal.deps.now(), true)],
])('a press that waits for the addresses of its provider leads back to the form after %s', async (_, change) => {
  await addOidcConnection(portal, old);
  const [asked, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const document = {
    issuer: old.issuer,
    authorization_endpoint: `${old.issuer}/authorize`,
    token_endpoint: `${old.issuer}/token`,
    end_session_endpoint: `${old.issuer}/end`,
    jwks_uri: `${old.issuer}/keys`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  };
  const discovery = async (response: ServerResponse) => {
    asked.resolve();
    await told.promise;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  };
  old.bend({ instead: { discovery } });
  portal.wait(2 * providerBelieved);
  const browser = browserForTest(portal);
  const destination = '/portal/portal.html?plan=7';
  const form = { username: 'alice@acme.test', redirectURL: destination };
  const pressing = browser.post('/portal/authenticate/performSsoLogin', form);
  await asked.promise;
  await change();
  told.resolve();
  const pressed = await pressing;
  expect(pressed.headers.location).toBe(
    `/portal/singleSignOn?notice=signInExpired&destination=${encodeURIComponent(destination)}`,
  );
  expect(Object.keys(browser.cookies).filter((name) => name.includes('visit'))).toEqual([]);
  expect(await portal.sql`select from sso_request`).toHaveLength(0);
  expect(await portal.sql`select from audit_event where event = 'sso-started'`).toHaveLength(0);
  const { body } = await browser.get(String(pressed.headers.location));
  expect(body).toContain('value="alice@acme.test"');
});

it('so does one whose visit is stored while the connection is being changed', async () => {
  await addOidcConnection(portal, old);
  old.bend({});
  const browser = browserForTest(portal);
  const release = await holdRows(pool, (sql) => sql`lock table audit_event in exclusive mode`);
  const changing = set('acme-oidc', { issuer: next.issuer });
  await untilWaiting(pool, 1);
  const pressing = browser.post('/portal/authenticate/performSsoLogin', { username: 'alice@acme.test' });
  await untilWaiting(pool, 2);
  await release();
  expect(await changing).toMatchObject({ kind: 'changed' });
  expect((await pressing).headers.location).toBe('/portal/singleSignOn?notice=signInExpired');
  expect(await portal.sql`select from sso_request`).toHaveLength(0);
});

it('a sign-out hands the next provider no proof of the one before, from a half session or pressed twice', async () => {
  await addOidcConnection(portal, old);
  const wayOut = async (browser: BrowserForTest) => {
    const { body } = await portal.send({ method: 'POST', url: '/portal/logout', cookies: browser.cookies });
    return /http-equiv="refresh" content="0;url=([^"]+)"/.exec(body)?.[1] ?? null;
  };
  const [half, twice] = [await visit(old, alice), await visit(old, alice)];
  expect(await wayOut(twice)).toContain(`${old.issuer}/end?`);
  await portal.sql`update customer set two_factor = 'email'`;
  await half.post('/portal/performlogin', { username: 'alice', password: testPassword });
  expect(await portal.sql`select from session where sealed_replaced_id_token is not null`).toHaveLength(1);
  await set('acme-oidc', { issuer: next.issuer });
  expect([await wayOut(twice), await wayOut(half)]).toEqual([null, null]);
});

it.each([
  ['', 'off'],
  [', with a code', 'email'],
])(
  'SE-15 another provider has signed nobody in since a sign-out%s, so it is asked for a fresh sign-in',
  async (_, code) => {
    await addOidcConnection(portal, old);
    const browser = browserForTest(portal);
    await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
    await browser.post('/portal/logout', {});
    const prompt = async () => {
      const pressed = await browser.post('/portal/authenticate/checkSsoLogin', {});
      return new URL(await followLeavePage(browser, pressed)).searchParams.get('prompt');
    };
    await portal.sql`update customer set two_factor = ${code}`;
    await visit(old, { ...alice, auth_time: Math.floor(portal.deps.now().getTime() / 1000) }, browser);
    if (code === 'email')
      await browser.post('/portal/two-factor-authentication/verify', { code: await codeByMail(portal, 'alice') });
    expect(await signedInAs(portal, browser.cookies)).toBe('alice');
    expect(await prompt()).toBeNull();
    await set('acme-oidc', { issuer: next.issuer });
    expect(await prompt()).toBe('login');
  },
);

it('the same by SAML: the NameID of another entity is another person', async () => {
  const one = await samlProvider('idp.acme.test', portal.deps.now());
  const two = await samlProvider('new.acme.test', portal.deps.now());
  await addSamlConnection(portal, one);
  const go = async (provider: typeof one, nameId: string, email: string) => {
    const browser = browserForTest(portal);
    const request = samlRequestAt(await departFor(browser, email));
    const posted = await postSamlAnswer(portal, browser, samlAnswer(portal, provider, request, { nameId, email }));
    await browser.get(String(posted.headers.location), crossSite);
    return await signedInAs(portal, browser.cookies);
  };
  expect(await go(one, 'e1007', 'alice@acme.test')).toBe('alice');
  const settings = { entityId: two.entityId, signOnUrl: `${two.entityId}/sso`, certificates: [two.key.certificate] };
  expect(await set('acme-saml', settings)).toMatchObject({ sessionsEnded: 1, usersUnlinked: 1 });
  expect(await go(two, 'e1007', 'mallory@acme.test')).toBeNull();
  expect(await go(two, 'e9', 'alice@acme.test')).toBe('alice');
});
