import { expect, it } from 'vitest';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const portal = portalOfFile();

it.each([
  ['/performlogin', '/login'],
  ['/authenticate/checkSsoLogin', '/login'],
  ['/authenticate/performSsoLogin', '/singleSignOn'],
  ['/password/forgotten', '/forgotten'],
  ['/password/change', '/forgottenChange'],
])('a person who opens %s, where its form may have been shown again, gets the form', async (call, screen) => {
  const open = async (query: string) => {
    const { statusCode, headers } = await portal.send({ url: `/portal${call}${query}` });
    return [statusCode, headers.location];
  };
  expect(await open('')).toEqual([303, `/portal${screen}`]);
  expect(await open('/')).toEqual([303, `/portal${screen}`]);
  // Nothing of a form is taken from the address.
  expect(await open('?username=a&password=b&hash=c&redirectURL=%2Fx&_method=POST&lang=de')).toEqual([
    303,
    `/portal${screen}?lang=de`,
  ]);
});

it.each(['/performlogin', '/authenticate/checkSsoLogin', '/password/forgotten'])(
  'a script, and every other method, gets 405 at %s',
  async (call) => {
    const url = `/portal${call}`;
    for (const request of [
      { url, headers: { accept: 'application/json' } },
      { url, headers: { 'sec-fetch-mode': 'cors' } },
      ...(['HEAD', 'PUT', 'DELETE', 'OPTIONS'] as const).map((method) => ({ url, method })),
    ]) {
      const { statusCode, headers } = await portal.send(request);
      expect([statusCode, headers.allow]).toEqual([405, 'POST']);
    }
  },
);
