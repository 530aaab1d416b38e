import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { screenPaths } from '#contract/screens.ts';
import { encode } from '#server/http/encoding.ts';
import { addAttackFixtures, addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { giveBrand } from '#testing/brands-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { svgForTest } from '#testing/logo-for-test.ts';
import { type TestRequest, testPassword } from '#testing/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#testing/portal-of-file.ts';
import { askForReset } from '#testing/reset-for-test.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { addOidcConnection, browserForTest, departFor, pathOf } from '#testing/sso-for-test.ts';
import { halfSession, pageOf } from '#testing/two-factor-for-test.ts';

vi.mock(import('#server/http/encoding.ts'), async (original) => {
  const module = await original();
  return { ...module, encode: vi.fn(module.encode) };
});

const portal = portalOfFile({ env: { PUBLIC_URL: 'https://hub.example' } });
const second = otherInstanceOfFile(portal, { publicUrl: new URL('https://hub.example') });
const provider = sharedByFile(() => startForgedProvider(portal.deps));

/** What does not compress. */
const noise = Buffer.concat(Array.from({ length: 9 }, (_, at) => createHash('sha512').update(`${at}`).digest()));
const acme = {
  name: 'Acme Energy',
  accentColour: '#ffcc00',
  links: { support: 'mailto:help@acme.test' },
  texts: { en: { tagline: 'Power for everyone' }, de: { 'login-title': 'Willkommen bei Acme' } },
  logo: Buffer.from(svgForTest).toString('base64'),
  hosts: ['login.acme.test'],
};

beforeEach(async () => {
  await emptyDatabase(portal);
  portal.mails.length = 0;
  await addAttackFixtures(portal);
  await addCustomer(portal, 'globex');
  await addUser(portal, { username: 'zoe', customers: ['acme', 'globex'] });
  await giveBrand(portal, 'acme', acme);
  await giveBrand(portal, 'globex', { name: 'Globex' });
});

const get = async (url: string, more: Partial<TestRequest> = {}) => await portal.send({ url, ...more });
const post = async (url: string, form: Record<string, string>, more: Partial<TestRequest> = {}) =>
  await portal.send({ method: 'POST', url, form, ...more });

describe('BR-02 a page in a customer’s brand', () => {
  it('has its name, logo, links, texts and colour, and no request more', async () => {
    const { body, headers } = await get('/portal/login?customer=acme');
    expect(body).toContain('<title>Sign in · Acme Energy</title>');
    expect(body).toContain('alt="Acme Energy"');
    expect(body).toContain('href="mailto:help@acme.test"');
    expect(body).toContain('Power for everyone');
    expect(body).not.toContain('Vestibule');
    const own = (await get('/portal/login')).body;
    const loaded = (page: string) => page.match(/ (?:src|href)="\/[^"]*(?:\.js|\.css|\.svg|\.png)"/g)?.length;
    expect(loaded(body)).toBe(loaded(own));
    // The only style that the policy admits is that of this brand.
    const [, style = ''] = /<style>([^<]*)<\/style>/.exec(body) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toContain(`'sha256-${hash}'`);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src /);
    expect(own).not.toContain(style);
  });

  it('loads the texts of its languages from a folder of its own, and scripts find each other there', async () => {
    const { body } = await get('/portal/login?customer=acme&lang=de');
    expect(body).toContain('Willkommen bei Acme');
    const [, script = ''] = /<script type="module" async src="([^"]+)"/.exec(body) ?? [];
    expect(script).toMatch(/^\/portal\/assets\/brand\/[\w-]{16}\/main-[\w-]+\.js$/);
    const main = await get(script);
    expect(main.statusCode).toBe(200);
    const folder = script.slice(0, script.lastIndexOf('/'));
    const named = [...main.body.matchAll(/import\(["'`]\.\/([\w-]+\.js)["'`]\)/g)].map(([, file = '']) => file);
    expect(named.length).toBeGreaterThan(6);
    for (const file of named) {
      const answer = await get(`${folder}/${file}`, { headers: { 'accept-encoding': 'identity' } });
      expect({ file, status: answer.statusCode }).toEqual({ file, status: 200 });
      expect(answer.headers['cache-control']).toContain('immutable');
      expect(answer.body.includes('Willkommen bei Acme')).toBe(file.startsWith('de-'));
    }
    const german = named.find((file) => file.startsWith('de-'));
    vi.mocked(encode).mockClear();
    const headers = { 'accept-encoding': 'br' };
    const twice = [await get(`${folder}/${german}`, { headers }), await get(`${folder}/${german}`, { headers })];
    expect(twice.map((answer) => answer.headers['content-encoding'])).toEqual(['br', 'br']);
    expect(twice[0]?.rawPayload.equals(twice[1]?.rawPayload as Buffer)).toBe(true);
    expect(encode).toHaveBeenCalledOnce();
    expect((await get(`${folder}/..%2Fmain.js`)).statusCode).toBe(404);
    expect((await get(`${folder}/main-unknown.js`)).statusCode).toBe(404);
    expect((await get('/portal/assets/brand/AAAAAAAAAAAAAAAA/main.js')).statusCode).toBe(404);
  });

  it('HD-01 shows a large logo as a file that can run nothing', async () => {
    const logo = Buffer.concat([Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAHgAAAAeCAIAAAB7QOjd', 'base64'), noise]);
    await giveBrand(portal, 'acme', { name: 'Acme', logo: logo.toString('base64') });
    const [, src = ''] = /<img src="([^"]+)"/.exec((await get('/portal/login?customer=acme')).body) ?? [];
    expect(src).toMatch(/^\/portal\/assets\/brand\/[\w-]{16}\.png$/);
    const { headers, rawPayload } = await get(src);
    expect(rawPayload.equals(logo)).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    });
  });

  it('costs at most half a kilobyte: logos for day and night, name, colour, links and texts', async () => {
    const dark = Buffer.from(svgForTest.replace('#a50', '#fc8'));
    const links = {
      support: 'https://help.acme.test/',
      imprint: 'https://acme.test/imprint',
      solutions: 'https://acme.test/',
    };
    await giveBrand(portal, 'acme', { ...acme, links, logoDark: dark.toString('base64') });
    const sizeOf = async (url: string) => (await get(url, { headers: { 'accept-encoding': 'br' } })).rawPayload.length;
    for (const path of ['login', 'forgotten', 'twoFactor', 'loginfail/default']) {
      const more = (await sizeOf(`/portal/${path}?customer=acme`)) - (await sizeOf(`/portal/${path}`));
      expect(more, path).toBeLessThanOrEqual(512);
    }
  });

  it('is the installation’s own for a customer without one, and for what is no customer', async () => {
    const own = await get('/portal/login');
    for (const key of ['fenced', 'nobody', '', 'ACME', '__proto__', '<script>']) {
      const { body, headers } = await get(`/portal/login?customer=${encodeURIComponent(key)}`);
      expect(body).toContain('· Vestibule</title>');
      expect(body).not.toContain('<script>');
      expect(headers['content-security-policy']).toBe(own.headers['content-security-policy']);
    }
  });

  it('UN-01 does not depend on whether an account exists, or whose it is', async () => {
    const pages = await Promise.all(
      ['alice', 'carol', 'nobody'].map(async (username) => {
        const refused = await post('/portal/performlogin?customer=acme', { username, password: 'wrong' });
        const { body } = await get(String(refused.headers.location));
        return { location: refused.headers.location, body };
      }),
    );
    expect(new Set(pages.map(({ location }) => location)).size).toBe(1);
    expect(new Set(pages.map(({ body }) => body)).size).toBe(1);
  });

  it('is kept in memory like others, and a changed one is shown at once', async () => {
    await get('/portal/login?customer=acme');
    await giveBrand(portal, 'acme', { name: 'Acme Renewables' });
    expect((await get('/portal/login?customer=acme')).body).toContain('· Acme Renewables</title>');
  });

  it('another instance shows it after its next look, and loads what the first one’s pages name before', async () => {
    await giveBrand(portal, 'acme', { ...acme, name: 'Acme Renewables' });
    const { body } = await get('/portal/login?customer=acme');
    const [, script = ''] = /<script type="module" async src="([^"]+)"/.exec(body) ?? [];
    expect((await second.send({ url: script })).statusCode).toBe(200);
    expect((await second.send({ url: '/portal/login?customer=acme' })).body).toContain('· Acme Renewables</title>');
  });
});

describe('BR-02 ?customer= is kept', () => {
  it('by every link and form of a page, and its language menu', async () => {
    for (const path of Object.values(screenPaths)) {
      const { body, headers, statusCode } = await get(`/portal${path}?customer=acme`);
      if (statusCode === 302) {
        expect(headers.location, path).toMatch(/[?&]customer=acme\b/);
        continue;
      }
      const addresses = [...body.matchAll(/ (?:href|action)="(\/portal[^"]*)"/g)].map(([, url]) => url ?? '');
      const without = addresses.filter((url) => !/\.js$/.test(url) && !/customer=acme\b/.test(url));
      expect(without, path).toEqual([]);
      expect(body, path).toContain('<input type="hidden" name="customer" value="acme"/>');
    }
  });

  it('by a wrong password, a readable refusal and a form that comes back', async () => {
    const refused = await post('/portal/performlogin?customer=acme&lang=de', { username: 'bob', password: 'wrong' });
    expect(refused.headers.location).toBe('/portal/loginfail/default?lang=de&customer=acme');
    const again = await post('/portal/password/forgotten?customer=acme', { username: 'no address' });
    expect(again.statusCode).toBe(400);
    expect(again.body).toContain(
      '"url":"/portal/forgotten?notice=emailMalformed\\u0026customer=acme"'.replace('\\u0026', '&'),
    );
    expect(again.body).toContain('Acme Energy');
    const legacy = await get('/portal/loginfailIP?ipaddress=192.0.2.1&customer=acme');
    expect(legacy.headers.location).toBe('/portal/loginfail/ip?ipaddress=192.0.2.1&customer=acme');
  });

  it('by the second factor, and to the built-in page, but never into the hub’s addresses', async () => {
    await addCustomer(portal, 'app', { twoFactor: 'app' });
    await addUser(portal, { username: 'ada', customers: ['app'] });
    const half = await post('/portal/performlogin?customer=acme', { username: 'ada', password: testPassword });
    expect(half.headers.location).toMatch(/^\/portal\/twoFactorRegistration\?.*&customer=acme$/);
    const full = await post('/portal/performlogin?customer=acme', { username: 'bob', password: testPassword });
    expect(full.headers.location).toBe('/portal/portal.html?customer=acme');
    const deep = await post('/portal/performlogin?customer=acme', {
      username: 'bob',
      password: testPassword,
      redirectURL: '/portal/reports?a=b#c',
    });
    expect(deep.headers.location).toBe('/portal/reports?a=b#c');
  });

  it('by single sign-on: cancelled at the provider, and signed in', async () => {
    await addOidcConnection(portal, provider);
    const claims = (honest: object) => ({ ...honest, email: 'alice@acme.test' });
    provider.bend({ claims });
    const browser = browserForTest(portal);
    const pressed = await browser.post('/portal/authenticate/performSsoLogin?customer=globex', {
      username: 'alice@acme.test',
    });
    expect(pressed.headers.location).toMatch(/^\/portal\/authenticate\/leave\?.*&customer=globex$/);
    const leaving = await browser.get(String(pressed.headers.location));
    expect(leaving.body).toContain('· Globex</title>');
    const [, url = ''] = /content="0;url=([^"]+)"/.exec(leaving.body) ?? [];
    const done = await browser.get(pathOf(provider.visit(url.replaceAll('&#38;', '&'))));
    expect(done.headers.location).toBe('/portal/portal.html?customer=globex');

    provider.bend({
      callback: (parameters) => {
        parameters.delete('code');
        parameters.set('error', 'access_denied');
      },
    });
    const other = browserForTest(portal);
    const again = await other.post('/portal/authenticate/performSsoLogin?customer=globex&lang=de', {
      username: 'alice@acme.test',
    });
    const page = await other.get(String(again.headers.location));
    const [, away = ''] = /content="0;url=([^"]+)"/.exec(page.body) ?? [];
    const cancelled = await other.get(pathOf(provider.visit(away.replaceAll('&#38;', '&'))));
    expect(cancelled.headers.location).toBe('/portal/loginfail/oidc?notice=signInCancelled&lang=de&customer=globex');
    // One that began without a brand ends without one.
    provider.bend({ claims });
    const plain = browserForTest(portal);
    const end = await plain.get(pathOf(provider.visit(await departFor(plain))));
    expect(end.headers.location).toBe('/portal/portal.html');
  });

  it('by tabs, not by a cookie', async () => {
    const { headers } = await get('/portal/login?customer=acme');
    expect(headers['set-cookie']).toBeUndefined();
    const signedIn = await post('/portal/performlogin?customer=acme', { username: 'bob', password: testPassword });
    expect(JSON.stringify(signedIn.headers['set-cookie'])).not.toContain('acme');
  });
});

describe('BR-05 a customer’s host', () => {
  const at = (host: string, url: string, more: Partial<TestRequest> = {}) =>
    portal.send({ url, ...more, headers: { host, ...more.headers } });

  it('leads to the same page at the public address, in the customer’s brand', async () => {
    for (const [url, there] of [
      ['/', '/portal/?customer=acme'],
      ['/portal/login?lang=de', '/portal/login?lang=de&customer=acme'],
      ['/portal/forgotten?customer=globex', '/portal/forgotten?customer=acme'],
      ['//evil.test/x', '/evil.test/x?customer=acme'],
    ] as const) {
      const { statusCode, headers } = await at('login.acme.test', url);
      expect([url, statusCode, headers.location]).toEqual([url, 302, `https://hub.example${there}`]);
      expect(headers['set-cookie']).toBeUndefined();
      // What lies below a customer's host is not ours to bind.
      expect(headers['strict-transport-security']).toBe('max-age=63072000');
    }
    expect((await at('LOGIN.Acme.Test', '/portal/login')).statusCode).toBe(302);
  });

  it('HD-02 takes nothing that changes state, and no other host is answered', async () => {
    const form = { username: 'bob', password: testPassword };
    const posted = await at('login.acme.test', '/portal/performlogin', { method: 'POST', form });
    expect(posted.statusCode).toBe(421);
    for (const host of ['login.globex.test', 'login.acme.test:8443', 'x.login.acme.test', 'evil.test'])
      expect((await at(host, '/portal/login')).statusCode).toBe(421);
  });
});

describe('BR-06 emails are in the brand of their reader', () => {
  it('of the only customer, whatever page a link has shown', async () => {
    await askForReset(portal, 'alice@acme.test', { url: '/portal/password/forgotten?customer=globex' });
    await portal.workOff();
    const mail = portal.mails.at(-1);
    expect(mail).toMatchObject({ from: 'Acme Energy', html: expect.stringContaining('Acme Energy') });
    expect(mail?.text).toMatch(/https:\/\/hub\.example\/portal\/forgottenChange\?hash=[\w-]+&customer=acme&lang=en/);
    expect(mail?.text).not.toContain('Globex');
  });

  it.each([
    ['with several, of the page on which they asked', '?customer=globex', 'Globex'],
    ['with several, on a page of none of them, the installation’s', '?customer=fenced', 'Vestibule'],
    ['with several, on the installation’s page, its own', '', 'Vestibule'],
  ])('%s', async (_name, search, name) => {
    await giveBrand(portal, 'fenced', { name: 'Fenced' });
    await askForReset(portal, 'zoe@acme.test', { url: `/portal/password/forgotten${search}` });
    await portal.workOff();
    expect(portal.mails.at(-1)).toMatchObject({ from: name, recipient: 'zoe@acme.test' });
  });

  it('and so is the issuer in their authenticator app: that of the link on the page is that of the QR code', async () => {
    await addCustomer(portal, 'app', { twoFactor: 'app' });
    await addUser(portal, { username: 'ada', customers: ['app'] });
    await giveBrand(portal, 'app', { name: 'App AG' });
    const cookies = await halfSession(portal, 'ada');
    const { secondFactor } = await pageOf(portal, { url: '/portal/twoFactorRegistration?customer=acme', cookies });
    expect(secondFactor).toMatchObject({ account: 'ada', issuer: 'App AG' });
  });
});
