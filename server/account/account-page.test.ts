import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';

const portal = portalOfFile();

beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
});

describe('the account page', () => {
  it('leads somebody who is not signed in to the sign-in form, and back', async () => {
    const { statusCode, headers } = await portal.send({ url: '/portal/account/password?do=change' });
    expect([statusCode, headers.location]).toEqual([
      302,
      '/portal/?destination=%2Fportal%2Faccount%2Fpassword%3Fdo%3Dchange',
    ]);
  });

  it('shows who is signed in, and loads no script', async () => {
    const cookies = cookiesOf(await portal.signIn('alice', testPassword));
    const { statusCode, body, headers } = await portal.send({ url: '/portal/account', cookies });
    expect(statusCode).toBe(200);
    expect(body).toContain('alice@acme.test');
    expect(body).not.toContain('<script');
    expect(headers['content-security-policy']).toContain("script-src 'none'");
  });
});
