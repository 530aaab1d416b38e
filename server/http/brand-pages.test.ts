import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { logoForTest, svgForTest } from '#test/support/brand-for-test.ts';
import { type PortalForTest, portalForTest } from '#test/support/portal-for-test.ts';
import { readBrand } from '../config/brand.ts';

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
let portal: PortalForTest;
beforeAll(async () => {
  portal = await portalForTest({ brand });
});
afterAll(async () => await portal.close());
const get = async (url: string) => await portal.send({ url });

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

it('BR-03 HD-01 the logo is a file that can run nothing', async () => {
  const { body } = await get('/portal/forgotten');
  const shown = /<source srcSet="([^"]+)" media="[^"]+dark\)"\/><img src="([^"]+)" alt="Acme Energy"\/>/.exec(body);
  const [, night = '', day = ''] = shown ?? [];
  for (const [src, content] of [
    [day, svgForTest],
    [night, dark],
  ] as const) {
    const answer = await get(src);
    expect(answer.body).toBe(content);
    expect(answer.headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
      'x-content-type-options': 'nosniff',
    });
  }
  expect((await get(`${day}x`)).statusCode).toBe(404);
  expect((await get('/portal/assets/logo/')).statusCode).toBe(404);
});
