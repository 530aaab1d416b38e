import { beforeAll, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';

const portal = portalOfFile();
beforeAll(async () => {
  await addCustomer(portal, 'acme', { twoFactor: 'app' });
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'bob' });
});

it('MF-18 nobody sees another’s key, and no key is compressed together with an address', async () => {
  const keys: string[] = [];
  for (const username of ['alice', 'bob']) {
    const cookies = cookiesOf(await portal.signIn(username, testPassword));
    const url = '/portal/two-factor-authentication/registration';
    const { totpSecret } = (await portal.send({ url, cookies })).json() as { totpSecret: string };
    keys.push(totpSecret.slice(0, 4));
    // The bare address, which is the same for everyone.
    const headers = { 'accept-encoding': 'br, gzip' };
    const page = await portal.send({ url: '/portal/twoFactorRegistration', cookies, headers });
    expect(page.headers['content-encoding']).toBeUndefined();
    expect(page.headers['cache-control']).toContain('no-store');
    for (const [index, key] of keys.entries())
      expect(page.body.includes(`>${key}`), username).toBe(index === keys.length - 1);
  }
  expect(keys[0]).not.toBe(keys[1]);
});
