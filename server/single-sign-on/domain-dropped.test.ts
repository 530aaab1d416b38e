import { beforeEach, expect, it } from 'vitest';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { addOidcConnection, browserForTest, departFor, lastFailure, pathOf } from '#test/support/sso-for-test.ts';
import { type ChangeOfConnection, changeConnection } from './change-connection.ts';

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'gina', email: 'Gina@Pärtner.test' });
  await addOidcConnection(portal, provider, { domains: ['acme.test', 'xn--prtner-bua.test'] });
});

const alice = { sub: 'a', email: 'alice@acme.test', email_verified: true };
const gina = { sub: 'g', email: 'gina@pärtner.test', email_verified: true };
async function visit(said: typeof alice, { browser = browserForTest(portal), typed = said.email } = {}) {
  provider.bend({ claims: (honest) => ({ ...honest, ...said }) });
  await browser.get(pathOf(provider.visit(await departFor(browser, typed))));
  return browser;
}
const who = async ({ cookies }: { cookies: Record<string, string> }) => await signedInAs(portal, cookies);
const keepOnlyAcme = async (more: ChangeOfConnection = {}, isAgreed = true) =>
  await changeConnection(portal.deps, 'acme-oidc', { domains: ['acme.test'], ...more }, portal.deps.now(), isAgreed);

it('SA-40 whoever a connection vouched for in a domain that it loses is unlinked, and their sessions end', async () => {
  const [ginas, alices] = [await visit(gina), await visit(alice)];
  expect([await who(ginas), await who(alices)]).toEqual(['gina', 'alice']);
  expect(await keepOnlyAcme()).toMatchObject({ kind: 'changed', sessionsEnded: 1, usersUnlinked: 1 });
  expect([await who(ginas), await who(alices)]).toEqual([null, 'alice']);
  expect(await who(await visit(gina, { typed: alice.email }))).toBeNull();
  expect((await lastFailure(portal))?.reason).toBe('foreign-domain');
  expect(await who(await visit({ ...alice, email_verified: false }))).toBe('alice');
});

it('SA-40 a session there that waits for a code ends, too', async () => {
  await portal.sql`update customer set two_factor = 'email'`;
  await visit(gina);
  expect(await portal.sql`select from session where stage = 'half'`).toHaveLength(1);
  expect(await keepOnlyAcme()).toMatchObject({ sessionsEnded: 1 });
  expect(await portal.sql`select from session`).toHaveLength(0);
});

it('nothing changes until the operator agrees that users are unlinked', async () => {
  const ginas = await visit(gina);
  expect(await keepOnlyAcme({}, false)).toMatchObject({
    kind: 'notAgreed',
    follows: { unlinked: 1, domainsDropped: ['xn--prtner-bua.test'] },
  });
  expect(await who(ginas)).toBe('gina');
});

it('asks nothing if nobody there is linked, or if the links are kept', async () => {
  await visit(alice);
  expect(await keepOnlyAcme({}, false)).toMatchObject({ kind: 'changed', sessionsEnded: 0, usersUnlinked: 0 });
  await changeConnection(portal.deps, 'acme-oidc', { domains: ['acme.test', 'xn--prtner-bua.test'] }, new Date());
  const ginas = await visit(gina);
  expect(await keepOnlyAcme({ keepsLinks: true }, false)).toMatchObject({ kind: 'changed', usersUnlinked: 0 });
  expect(await who(ginas)).toBe('gina');
  delete ginas.cookies['vestibule-session'];
  // Her address leads to no provider any more; another one does.
  await visit(gina, { browser: ginas, typed: alice.email });
  expect(await who(ginas)).toBe('gina');
});
