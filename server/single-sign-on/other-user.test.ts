import { beforeAll, beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  addSamlConnection,
  crossSite,
  postSamlAnswer,
  type SamlProviderForTest,
  samlAnswer,
  samlProvider,
  samlRequestAt,
} from '#testing/saml-sign-in-for-test.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import { browserForTest, departFor, lastFailure } from '#testing/sso-for-test.ts';
import { unlinkUser } from './unlink-user.ts';

let acme: SamlProviderForTest;
const portal = portalOfFile();
beforeAll(async () => {
  acme = await samlProvider('idp.acme.test', portal.deps.now());
});

beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'other');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'mallory' });
  await addSamlConnection(portal, acme);
});

/** Whom a provider's answer signs in, in a new browser. */
async function come(nameId: string, email: string, typed = email): Promise<string | null> {
  const browser = browserForTest(portal);
  const answer = samlAnswer(portal, acme, samlRequestAt(await departFor(browser, typed)), { nameId, email });
  const posted = await postSamlAnswer(portal, browser, answer);
  await browser.get(String(posted.headers.location), crossSite);
  return await signedInAs(portal, browser.cookies);
}

it('SA-40 a link that a forged answer made does not outlive it: the subject has the email of another user', async () => {
  // Forged with mallory's own subject and alice's address.
  expect(await come('m', 'alice@acme.test')).toBe('alice');
  expect(await come('m', 'Mallory@acme.test')).toBeNull();
  const { reason, steps } = (await lastFailure(portal)) ?? {};
  expect(reason).toBe('other-user');
  expect(JSON.stringify(steps)).toContain('mallory@acme.test is the email of mallory');
  expect(JSON.stringify(steps)).toContain('vestibule connection unlink acme-saml alice');
  expect(
    await portal.sql`select from session where user_id = (select id from portal_user where username = 'mallory')`,
  ).toEqual([]);
  await unlinkUser(portal.sql, 'acme-saml', 'alice', portal.deps.now());
  expect(await come('m', 'mallory@acme.test')).toBe('mallory');
  expect(await come('a', 'alice@acme.test')).toBe('alice');
});

it('an email that changed at the provider is fine if nobody else of the customer has it', async () => {
  expect(await come('a', 'alice@acme.test')).toBe('alice');
  expect(await come('a', 'alice.married@acme.test')).toBe('alice');
  expect(await come('a', 'alice@elsewhere.test', 'alice@acme.test')).toBe('alice');
  await addUser(portal, { username: 'olga', email: 'olga@acme.test', customers: ['other'] });
  expect(await come('a', 'olga@acme.test')).toBe('alice');
  // A username is not an email, and one's own may be an address.
  await addUser(portal, { username: 'shared@acme.test', email: 'somebody@acme.test' });
  expect(await come('a', 'shared@acme.test')).toBe('alice');
  await addUser(portal, { username: 'bea@acme.test', email: 'bea.b@acme.test' });
  expect(await come('b', 'bea.b@acme.test')).toBe('bea@acme.test');
  expect(await come('b', 'bea@acme.test')).toBe('bea@acme.test');
});

it('an address that the provider does not vouch for says nothing', async () => {
  expect(await come('a', 'alice@acme.test')).toBe('alice');
  await portal.sql`update sso_connection set trusts_email = false`;
  expect(await come('a', 'mallory@acme.test', 'alice@acme.test')).toBe('alice');
});
