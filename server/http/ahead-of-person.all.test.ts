import { beforeAll, expect, it } from 'vitest';
import { addAttackFixtures } from '#testing/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';

// A page that a browser fetches ahead is shown when somebody opens it, and that may be the next person. Chromium shows it
// although every cookie has changed, and a page of a neighbouring host may ask for it.

const portal = portalOfFile({ once: addAttackFixtures });
let cookies: Record<string, string>;
beforeAll(async () => {
  cookies = cookiesOf(await portal.signIn('alice', testPassword));
});

const ahead = [
  { 'sec-purpose': 'prefetch' },
  { 'sec-purpose': 'prefetch;prerender' },
  { purpose: 'prefetch' },
  { 'x-moz': 'prefetch' },
];
const page = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
const statusOf = async (url: string, headers: Record<string, string>, as = cookies) =>
  (await portal.send({ url, cookies: as, headers: { ...page, ...headers } })).statusCode;

it.each([
  '/portal/account',
  '/portal/account/sessions',
  '/portal/portal.html',
  '/portal/two-factor-authentication/recovery-codes',
  '/portal/twoFactor',
  '/portal/twoFactorRegistration',
  '/portal/login',
  '/portal/authenticate/continue?connection=x',
])('SE-15 of somebody who is signed in, no browser keeps %s ahead', async (url) => {
  expect(await statusOf(url, {})).not.toBe(403);
  for (const headers of ahead) expect([headers, await statusOf(url, headers)]).toEqual([headers, 403]);
});

it.each(['/portal/account', '/portal/twoFactorRegistration', '/portal/two-factor-authentication/recovery-codes'])(
  'SE-15 nor does a page of another host begin %s, as an image, a frame or a call',
  async (url) => {
    for (const site of ['same-site', 'cross-site'])
      for (const [mode, dest] of [
        ['no-cors', 'image'],
        ['no-cors', 'empty'],
        ['navigate', 'iframe'],
      ] as const) {
        const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest };
        expect([headers, await statusOf(url, headers)]).toEqual([headers, 403]);
      }
    expect(await statusOf(url, { 'sec-fetch-site': 'cross-site' })).not.toBe(403);
  },
);

it.each(['/portal/', '/portal/login', '/portal/forgotten', '/portal/singleSignOn'])(
  'nobody’s page may be fetched ahead: %s',
  async (url) => {
    for (const headers of ahead) expect(await statusOf(url, headers, {})).toBe(200);
  },
);
