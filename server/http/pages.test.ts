import { createHash } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Page } from '#contract/page.ts';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { logoForTest, svgForTest } from '#test/support/brand-for-test.ts';
import { cookiesOf } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { readBrand } from '../config/brand.ts';
import { loadBuiltPages } from './built-pages.ts';
import { createPages } from './pages.ts';

const render = vi.fn<(page: Page) => string>();
const portal = portalOfFile();
beforeAll(async () => {
  await addAttackFixtures(portal);
  const { config } = portal.deps;
  const built = await loadBuiltPages(config);
  render.mockImplementation(built.render);
  portal.deps.pages = createPages({ config, built: { ...built, render } });
});
beforeEach(() => {
  render.mockClear();
});

const renderings = async (urls: string[], headers: Record<string, string> = {}) => {
  for (const url of urls) await portal.send({ url, headers });
  return render.mock.calls.length;
};

describe('rendered pages', () => {
  it('are cached for addresses that we hand out, and not for invented ones', async () => {
    const given = ['/portal', '/portal/', '/portal/login', '/portal/loginfail/default', '/portal/forgotten'];
    expect(await renderings([...given, ...given, ...given])).toBe(given.length);
    render.mockClear();
    const madeUp = Array.from({ length: 20 }, (_, index) => [
      `/portal/loginfail/${index}`,
      `/portal/login?x=${index}`,
      `/portal/nothing/${index}`,
      '/portal/login/',
    ]).flat();
    expect(await renderings([...madeUp, ...madeUp])).toBe(2 * madeUp.length);
    render.mockClear();
    expect(await renderings(given)).toBe(0);
  });

  it('say what they depend on, are never stored, and never contain what another visitor typed', async () => {
    const refused = await portal.signIn('canary-name', 'wrong');
    const cookies = cookiesOf(refused);
    const own = await portal.send({ url: '/portal/login', cookies });
    expect(own.body).toContain('canary-name');
    const next = await portal.send({ url: '/portal/login' });
    expect(next.body).not.toContain('canary-name');
    expect(next.headers).toMatchObject({
      vary: 'Accept-Encoding, Accept-Language',
      'cache-control': 'no-store',
      'content-language': 'en',
    });
    for (const name of ['x-forwarded-host', 'x-original-url', 'x-forwarded-prefix', 'forwarded']) {
      const poisoned = await portal.send({ url: '/portal/login', headers: { [name]: 'evil.example/x' } });
      expect(poisoned.body, name).toBe(next.body);
    }
  });
});

it('the first document fits into what a server sends at once', async () => {
  const { rawPayload } = await portal.send({ url: '/portal/login', headers: { 'accept-encoding': 'br' } });
  expect(rawPayload.length).toBeLessThanOrEqual(6_000);
});

const dark = svgForTest.replace('#a50', '#fc8');
const brand = readBrand(
  {
    name: 'Acme Energy',
    logo: logoForTest('logo.svg'),
    logoDark: logoForTest('dark.svg', dark),
    accentColour: '#ffcc00',
    links: { support: 'mailto:help@acme.test' },
    texts: {
      en: { tagline: 'Power for everyone', 'account-title': 'Mine', 'mail-footer': '{hub}' },
      de: { 'login-title': 'Willkommen bei Acme' },
    },
  },
  [],
);
const branded = portalOfFile({ config: { brand } });
const get = async (url: string) => await branded.send({ url });

it('BR-02 pages have the name, logo, links, texts and colour of the configuration', async () => {
  const { body, headers } = await get('/portal/login');
  expect(body).toContain('<title>Sign in · Acme Energy</title>');
  expect(body).toContain('href="mailto:help@acme.test"');
  expect(body).toContain('Power for everyone');
  expect(body).not.toContain('Vestibule');
  expect((await get('/portal/login?lang=de')).body).toContain('Willkommen bei Acme');
  const [, style = ''] = /<style>([^<]*)<\/style>/.exec(body) ?? [];
  expect(headers['content-security-policy']).toContain(createHash('sha256').update(style).digest('base64'));
  // What the script shows in another language; of an account page and emails it shows nothing.
  const page = JSON.parse(/<script type="application\/json" id="page">(.*)<\/script>/.exec(body)?.[1] ?? '');
  expect(page.ownTexts).toEqual({
    en: { tagline: 'Power for everyone' },
    de: { 'login-title': 'Willkommen bei Acme' },
  });
});

it('a screen, old or new, is found without the base path too', async () => {
  for (const path of ['/login?lang=de', '/forgottenChange/', '/loginfail/ip?ipaddress=192.0.2.1', '/loginfailIP?a=1']) {
    const { statusCode, headers } = await portal.send({ url: path });
    expect([statusCode, headers.location]).toEqual([302, `/portal${path}`]);
  }
  for (const url of ['/nowhere', '//login', '/Login']) expect((await portal.send({ url })).statusCode, url).toBe(404);
  expect((await portal.send({ method: 'POST', url: '/login' })).statusCode).toBe(404);
});
