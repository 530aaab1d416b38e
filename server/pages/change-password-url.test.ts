import { expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const portal = portalOfFile();

it('/.well-known/change-password leads to the forgotten password form', async () => {
  const { statusCode, headers } = await portal.send({ url: '/.well-known/change-password' });
  expect([statusCode, headers.location]).toEqual([302, '/portal/forgotten']);
});

it('somebody who is signed in gets to their account page, also from the page of an address that does not exist', async () => {
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  const cookies = cookiesOf(await portal.signIn('alice', testPassword));
  const { statusCode, headers } = await portal.send({ url: '/.well-known/change-password', cookies });
  expect([statusCode, headers.location]).toEqual([302, '/portal/account/password']);
  const link = 'href="/portal/account"';
  expect((await portal.send({ url: '/portal/nowhere', cookies })).body.includes(link)).toBe(true);
  expect((await portal.send({ url: '/portal/nowhere' })).body.includes(link)).toBe(false);
});
