import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '#test/support/free-port.ts';
import { siteOfPages } from '#test/support/proxy-for-test.ts';
import { runVestibule } from '#test/support/run-vestibule.ts';

// deploy/nginx/pages-only.conf, served by nginx.

let folder: string;
let origin: string;
let site: { close: () => Promise<void> };
const backend = createServer((asked, reply) => reply.end(`backend: ${asked.method} ${asked.url}`));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestibule-pages-'));
  const { err } = await runVestibule(['pages', folder], { env: { PUBLIC_URL: 'https://hub.example.com' } });
  expect(err).toBe('');
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  site = await siteOfPages({ folder, port, backend: (backend.address() as AddressInfo).port });
});
afterAll(async () => {
  await site.close();
  backend.close();
  await rm(folder, { recursive: true });
});

async function get(path: string, language = '') {
  const answer = await request(origin + path, { headers: { 'accept-language': language } });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

it.each([
  ['/portal/', 'login-title', 200],
  ['/portal/forgotten', 'forgotten-title', 200],
  ['/portal/loginfail/ip?ipaddress=192.0.2.1', 'login-fail-ip-title', 200],
  ['/portal/loginfail/x.y', 'login-fail-default-title', 200],
  ['/portal/forgottenChangeFailedInfo?reason=7', 'changed-failed-page-error-7', 200],
  ['/portal/forgottenChangeFailedInfo?reason=99', 'changed-failed-page-error', 200],
  ['/portal/twoFactor?codeSentViaEmail=true', 'twofa-email-title', 200],
  ['/portal/Login', 'not-found-title', 404],
  ['/portal/login.de.html', 'not-found-title', 404],
])('%s is the page with the text %s, %i, with every header', async (path, key, status) => {
  const texts = (await import('#messages/de.json', { with: { type: 'json' } })).default as Record<string, string>;
  const page = await get(path, 'de-AT,de;q=0.9');
  expect(page.status).toBe(status);
  expect(page.text.replaceAll('\u2011', '-')).toContain(texts[key] as string);
  expect(page.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': expect.stringContaining("default-src 'none'"),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache',
  });
});

it.each([
  ['', '/portal/login', 'en'],
  ['DE-at', '/portal/login', 'de'],
  ['fr-CH, fr;q=0.9, de;q=0.7, en;q=0.3', '/portal/login', 'de'],
  ['den,dsb-DE,pl;q=0.3', '/portal/login', 'pl'],
  ['de', '/portal/login?lang=nl-BE', 'nl'],
  ['de', '/portal/login?lang=xx', 'de'],
])('for "%s", %s is in %s', async (header, path, language) => {
  expect((await get(path, header)).text).toContain(`<html lang="${language}">`);
});

it.each([
  ['/', '/portal/'],
  ['/.well-known/change-password', '/portal/forgotten'],
  ['/portal?x=1', '/portal/portal.html?x=1'],
  ['/portal/loginFail?a=1', '/portal/loginfail/default?a=1'],
  ['/portal/loginfailOIDC', '/portal/loginfail/oidc'],
  ['/portal/loginfailIP?ipaddress=1.2.3.4', '/portal/loginfail/ip?ipaddress=1.2.3.4'],
])('%s redirects to %s', async (path, location) => {
  expect(await get(path)).toMatchObject({ status: 302, headers: { location } });
});
