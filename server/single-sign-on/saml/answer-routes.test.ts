import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { acs, bounced, crossSite } from '#test/support/saml-for-test.ts';

const portal = portalOfFile({
  config: {
    destinationRules: { origin: 'http://localhost:8080', basePath: '/portal', allowedOrigins: ['https://app.test'] },
  },
});
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
});

describe('the page that posts a SAML answer on', () => {
  it('is not kept, and may post to us and go on to where a sign-in may lead, by its one script', async () => {
    const { page, url } = await bounced(portal, { SAMLResponse: 'bm8=', RelayState: 'x' });
    expect(page.statusCode).toBe(200);
    expect(url).toBe('/portal/authenticate/saml/finish');
    const [, script = ''] = /<script>(.*)<\/script>/.exec(page.body) ?? [];
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'strict-origin',
      'x-frame-options': 'DENY',
      'content-security-policy': [
        "default-src 'none'",
        `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
        "img-src 'self'",
        "form-action 'self' https://app.test",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
    });
    expect(page.body).toMatch(/<\/form>\s*<script>/);
  });

  it('has a button without script, in the language of the browser', async () => {
    const form = { SAMLResponse: 'bm8=' };
    const headers = { ...crossSite.headers, 'accept-language': 'de' };
    const { body } = await portal.send({ method: 'POST', url: new URL(acs).pathname, form, headers });
    expect(body).toContain('<html lang="de">');
    expect(body).toMatch(/<noscript>\n<h1>Anmelden<\/h1>\n<button>Weiter<\/button>\n<\/noscript>/);
  });

  it.each([
    ['"><script>alert(1)</script>', "'&lt;&quot;\r\n\t&amp;"],
    ['A'.repeat(250_000), '</form><form action="https://evil.example">'],
  ])('SA-37 carries what was posted, whole and as text alone', async (SAMLResponse, RelayState) => {
    const { page, form } = await bounced(portal, { SAMLResponse, RelayState });
    expect(form).toEqual({ SAMLResponse, RelayState });
    expect(page.body.match(/<(?:script|form)\b/g)).toEqual(['<form', '<script']);
  });
});
