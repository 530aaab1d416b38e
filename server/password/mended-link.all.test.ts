import { beforeEach, describe, expect, it } from 'vitest';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { hiddenUsername, linkFor, startAfresh } from '#testing/reset-for-test.ts';
import { type BrowserForTest, browserForTest } from '#testing/sso-for-test.ts';

const portal = portalOfFile();
let browser: BrowserForTest;
beforeEach(async () => {
  await startAfresh(portal);
  browser = browserForTest(portal);
});

const right = (token: string) => `/portal/forgottenChange?hash=${token}`;

describe('an address that was damaged on its way', () => {
  it.each([
    ['the full stop of a sentence', (token: string) => `${right(token)}.`],
    ['a bracket', (token: string) => `${right(token)}%3E`],
    ['a space before', (token: string) => `/portal/forgottenChange?hash=%20${token}`],
    ['a space after', (token: string) => `${right(token)}%20`],
    ['quoted-printable', (token: string) => `/portal/forgottenChange?hash=3D${token}`],
    ['an entity', (token: string) => `/portal/forgottenChange?x=1&amp;hash=${token}`],
    ['lower case', (token: string) => right(token).toLowerCase().replace(token.toLowerCase(), token)],
    ['an escaped question mark', (token: string) => `/portal/forgottenChange%3Fhash=${token}`],
    ['the end of a line inside', (token: string) => right(`${token.slice(0, 20)}%0D%0A%20${token.slice(20)}`)],
    ['that of quoted-printable', (token: string) => right(`3D${token.slice(0, 20)}=${token.slice(20)}`)],
    ['a zero-width space inside', (token: string) => right(`${token.slice(0, 20)}%E2%80%8B${token.slice(20)}`)],
    ['a letter more', (token: string) => right(`${token}_`)],
    ['a second link', (token: string) => right(`${token},${'b'.repeat(43)}`)],
    ['another path', (token: string) => `/portal/forgottenChange/${token}`],
  ])('by %s leads to the right one', async (_by, damaged) => {
    const token = await linkFor(portal, 'alice');
    const { headers, statusCode } = await browser.get(damaged(token));
    expect([statusCode, headers.location]).toEqual([302, right(token)]);
    expect(hiddenUsername(await browser.get(right(token)))).toBe('alice');
  });

  it('keeps the language and the page asked for', async () => {
    const token = await linkFor(portal, 'alice');
    const more = `&destination=%2Fportal%2Freports%2F${'c'.repeat(43)}&lang=de`;
    expect((await browser.get(`${right(`${token}.`)}${more}`)).headers.location).toBe(right(token) + more);
  });
});

it.each(['%2Fhub%2F', '%2Fhub%3Fhash%3D', '%2Fhub%26hash%3D', '/hub?hash='])(
  'SE-15 a link of somebody else in the page asked for (%s) leads nobody to their form',
  async (asked) => {
    const [own, others] = [await linkFor(portal, 'alice'), await linkFor(portal, 'bob')];
    const destination = `destination=${asked}${others}`;
    // After a refused password, or without the hash that the script has taken out of the address.
    expect((await browser.get(`/portal/forgottenChange?${destination}`)).statusCode).toBe(200);
    for (const url of [`${right(own)}.&amp;${destination}`, `/portal/forgottenChange?${destination}&hash=${own}.`]) {
      const { location } = (await browser.get(url)).headers;
      expect(String(location).split('&')[0]).toBe(right(own));
    }
  },
);

it('SE-15 nor does one in a page asked for that a mail program has decoded, beside a link that is cut', async () => {
  const [own, others] = [await linkFor(portal, 'alice'), await linkFor(portal, 'bob')];
  for (const cut of [20, 42]) {
    const url = `${right(own.slice(0, cut))}&destination=/hub?x=1&hash=${others}`;
    expect((await browser.get(url)).headers.location ?? '').not.toContain(others);
  }
});

it.each([
  ['a token with one character less', `${'a'.repeat(42)}`],
  ['a long word', `${'a'.repeat(47)}`],
  ['none', 'abc'],
])('%s is no link, and the form says so once it is sent', async (_what, hash) => {
  expect((await browser.get(right(hash))).statusCode).toBe(200);
});

it('other pages are as they were', async () => {
  expect((await browser.get(`/portal/login?hash=${'a'.repeat(43)}.`)).statusCode).toBe(200);
  expect((await browser.get(`/portal/elsewhere/${'a'.repeat(43)}`)).statusCode).toBe(404);
});
