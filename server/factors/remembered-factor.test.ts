import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  addSamlConnection,
  postSamlAnswer,
  samlAnswer,
  samlProviderOfFile,
  samlRequestAt,
} from '#test/support/saml-for-test.ts';
import { browserForTest, departFor } from '#test/support/sso-for-test.ts';
import {
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  giveRecoveryCodes,
  halfSession,
  startTwoFactorAfresh,
  verify,
} from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile();
const provider = samlProviderOfFile(portal, 'idp.acme.test');
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  await addCustomer(portal, 'inner', { twoFactor: 'app', networks: ['203.0.113.0/24'] });
  await addUser(portal, { username: 'both', customers: ['mail', 'inner'] });
});

const inside = '203.0.113.5';
const outside = '198.51.100.7';
const hub = '/portal/portal.html';

/** A browser remembered from now on by a right code. */
async function remembered(username: string, codeOf: () => Promise<string> | string): Promise<Browser> {
  const half = await halfSession(portal, username);
  const answer = await verify(portal, await codeOf(), half, { query: '?remember=true' });
  expect(answer.body).toBe('true');
  return { 'vestibule-remembered': cookiesOf(answer)['vestibule-remembered'] ?? '' };
}
const byEmail = (username: string) => remembered(username, () => codeByMail(portal, username));

/** Where a right password leads; the browser keeps its cookies, except for the session. */
async function landing(username: string, held: Browser, from = outside): Promise<string | undefined> {
  const answer = await portal.signIn(username, testPassword, { cookies: held, from });
  const given = cookiesOf(answer)['vestibule-remembered'];
  if (given) held['vestibule-remembered'] = given;
  return answer.headers.location?.split('?')[0];
}

const factors = async () =>
  (await portal.sql<{ factor: string }[]>`select factor from remembered_device order by made_at`).map(
    ({ factor }) => factor,
  );

describe('MF-15 a device that is remembered by a code by email', () => {
  it('MF-15 skips no app that another customer of the user requires', async () => {
    const held = await byEmail('both');
    expect(await landing('both', held, outside)).toBe(hub);
    expect(await landing('both', held, inside)).toBe('/portal/twoFactor');
    expect(await landing('both', held, outside), 'it stays what it was').toBe(hub);
  });

  it('MF-15 nor one that the customer has required since', async () => {
    const held = await byEmail('bob');
    expect(await landing('bob', held)).toBe(hub);
    await portal.sql`update customer set two_factor = 'app' where key = 'mail'`;
    expect(await landing('bob', held)).toBe('/portal/twoFactor');
    await portal.sql`update customer set two_factor = 'email' where key = 'mail'`;
    expect(await landing('bob', held)).toBe(hub);
  });

  it('MF-15 nor the user’s own app', async () => {
    const held = await byEmail('bob');
    await giveApp(portal, 'bob');
    expect(await landing('bob', held)).toBe('/portal/twoFactor');
  });

  it('MF-15 nor at the end of a visit to a provider', async () => {
    await addSamlConnection(portal, provider, { key: 'inner', customerKey: 'inner', trustsEmail: true });
    await portal.sql`update customer set allowed_networks = '{}'`;
    await portal.sql`update customer set two_factor = 'email' where key = 'inner'`;
    const held = await byEmail('both');
    const visit = async () => {
      const browser = browserForTest(portal);
      const request = samlRequestAt(await departFor(browser, 'both@acme.test'));
      const answer = samlAnswer(portal, provider, request, { email: 'both@acme.test' });
      Object.assign(browser.cookies, held);
      const end = await postSamlAnswer(portal, browser, answer);
      held['vestibule-remembered'] = browser.cookies['vestibule-remembered'] ?? '';
      return end.headers.location?.split('?')[0];
    };
    expect(await visit()).toBe(hub);
    await portal.sql`update customer set two_factor = 'app' where key = 'inner'`;
    expect(await visit()).toBe('/portal/twoFactorRegistration');
  });
});

describe('a device that is remembered by an app', () => {
  it('is not asked for a weaker factor, nor for the app', async () => {
    const secret = await giveApp(portal, 'both');
    const held = await remembered('both', () => codeNow(portal, secret));
    expect(await landing('both', held, inside)).toBe(hub);
    expect(await landing('both', held, outside)).toBe(hub);
    // The app is gone, as if deleted from the database: what remains is a code by email.
    await portal.sql`delete from totp`;
    expect(await landing('both', held, outside)).toBe(hub);
  });

  it('is remembered by a recovery code too, which replaces the app', async () => {
    await giveApp(portal, 'alice');
    const [code = ''] = await giveRecoveryCodes(portal, 'alice');
    const held = await remembered('alice', () => code);
    expect(await landing('alice', held)).toBe(hub);
    expect(await factors()).toEqual(['app']);
  });
});
