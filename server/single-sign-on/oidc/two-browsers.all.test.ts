import { beforeAll, beforeEach, expect, it } from 'vitest';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { poolOfFile, portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { emptyTables, holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  lastFailure,
  pathOf,
} from '#test/support/sso-for-test.ts';
import { unlinkUser } from '../sso-subject.ts';

const portal = portalOfFile();
const pool = poolOfFile(portal);
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'mallory' });
  await addOidcConnection(portal, provider);
});

let attacker: BrowserForTest;
let victim: BrowserForTest;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'visit', 'sso_subject', 'audit_event', 'throttle');
  attacker = browserForTest(portal);
  victim = browserForTest(portal);
  provider.bend({});
});

const failed = /^\/portal\/loginfail\/oidc(?:\?|$)/;
const as = (email: string) =>
  provider.bend({ claims: (honest) => ({ ...honest, sub: email, email, email_verified: true }) });
const sessions = async () => (await portal.sql`select from session`).length;

it("OI-01 a victim's code is useless to the attacker who began and sent the link, once the victim was here", async () => {
  as('alice@acme.test');
  const callback = provider.visit(await departFor(attacker));
  const answer = await victim.get(pathOf(callback));
  expect(answer.headers.location).toMatch(failed);
  expect((await lastFailure(portal))?.reason).toBe('other-browser');
  const page = await victim.get(String(answer.headers.location));
  expect(page.body).toContain('href="/portal/singleSignOn"');
  expect((await attacker.get(pathOf(callback))).headers.location).toMatch(failed);
  expect(await sessions()).toBe(0);
  expect(provider.requests.filter((path) => path.includes('token'))).toEqual([]);
});

it("OI-14 an attacker's own code and state do not sign in the victim as the attacker, nor end the victim’s session", async () => {
  as('alice@acme.test');
  await victim.get(pathOf(provider.visit(await departFor(victim))));
  expect(await sessions()).toBe(1);
  as('mallory@acme.test');
  const callback = provider.visit(await departFor(attacker));
  expect((await victim.get(pathOf(callback))).headers.location).toBe('/portal/portal.html');
  expect((await lastFailure(portal))?.reason).toBe('other-browser');
  expect((await victim.get('/portal/portal.html')).body).toContain('alice@acme.test');
  expect(await sessions()).toBe(1);
});

it('OI-14 nor do they with the state of the victim’s open visit', async () => {
  as('mallory@acme.test');
  const code = provider.visit(await departFor(attacker)).searchParams.get('code') ?? '';
  const callback = provider.visit(await departFor(victim));
  callback.searchParams.set('code', code);
  expect((await victim.get(pathOf(callback))).headers.location).toMatch(failed);
  expect(await sessions()).toBe(0);
});

it('SA-40 an answer that comes while its subject is being unlinked links it to nobody again', async () => {
  as('alice@acme.test');
  await victim.get(pathOf(provider.visit(await departFor(victim))));
  const callback = pathOf(provider.visit(await departFor(attacker)));
  const release = await holdRows(pool, (sql) => sql`lock table audit_event in exclusive mode`);
  const unlinking = unlinkUser(portal.sql, 'acme-oidc', 'alice', portal.deps.now());
  await untilWaiting(pool, 1);
  const answering = attacker.get(callback);
  await untilWaiting(pool, 2);
  await release();
  expect((await unlinking).kind).toBe('unlinked');
  expect((await answering).headers.location).toMatch(failed);
  expect((await lastFailure(portal))?.reason).toBe('request-unknown');
  expect([await sessions(), await portal.sql`select from sso_subject`]).toEqual([0, []]);
});

it('a used or expired visit is not ended again by others, and a second load leads on', async () => {
  as('alice@acme.test');
  const callback = provider.visit(await departFor(victim, 'alice@acme.test', { redirectURL: '/portal/reports' }));
  expect((await victim.get(pathOf(callback))).headers.location).toBe('/portal/reports');
  expect((await attacker.get(pathOf(callback))).headers.location).toMatch(failed);
  expect((await lastFailure(portal))?.reason).toBe('other-browser');
  expect((await victim.get(pathOf(callback))).headers.location).toBe('/portal/reports');
});
