import { beforeEach, describe, expect, it } from 'vitest';
import texts from '#messages/en.json' with { type: 'json' };
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';

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

it('the overview says what there is, and promises no change that its section refuses', async () => {
  const cookies = cookiesOf(await portal.signIn('alice', testPassword));
  const entry = async (section: string) => {
    const { body } = await portal.send({ url: '/portal/account', cookies });
    return new RegExp(`/portal/account/${section}"><strong>[^<]*</strong><span>([^<]*)<`).exec(body)?.[1];
  };
  expect([await entry('recovery-codes'), await entry('devices'), await entry('sessions')]).toEqual([
    texts['account-count-none'],
    texts['account-count-none'],
    'In total: 1',
  ]);
  expect(await entry('password')).toBe(texts['account-password-about']);
  await portal.sql`update portal_user set may_change_password = false`;
  expect(await entry('password')).toBe(texts['account-password-fixed']);
});

it('a link from elsewhere cannot say that something was done', async () => {
  const cookies = cookiesOf(await portal.signIn('alice', testPassword));
  const noticeBy = async (site: string) => {
    const headers = { 'sec-fetch-site': site };
    const { body } = await portal.send({ url: '/portal/account/password?notice=passwordChanged', cookies, headers });
    return body.includes(texts['account-notice-passwordChanged']);
  };
  expect([await noticeBy('cross-site'), await noticeBy('same-site'), await noticeBy('none')]).toEqual([
    false,
    false,
    false,
  ]);
  expect(await noticeBy('same-origin')).toBe(true);
});

it('the customers are those whose networks admit the person here', async () => {
  await addCustomer(portal, 'fenced', { networks: ['203.0.113.0/24'] });
  await addUser(portal, { username: 'carol', customers: ['acme', 'fenced'] });
  const cookies = cookiesOf(await portal.signIn('carol', testPassword, { from: '203.0.113.5' }));
  const shown = async (from: string) => (await portal.send({ url: '/portal/account', cookies, from })).body;
  expect((await shown('203.0.113.5')).includes('fenced')).toBe(true);
  expect((await shown('198.51.100.7')).includes('fenced')).toBe(false);
});
