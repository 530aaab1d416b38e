import { describe, expect, it } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { cookiesOf, portalForTest, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const portal = portalOfFile({ once: addAttackFixtures });

describe('files', () => {
  it('HD-06 HD-08 no service worker, and no page served as a file', async () => {
    const cookies = cookiesOf(await portal.signIn('bob', testPassword));
    for (const path of [
      '/sw.js',
      '/portal/sw.js',
      '/portal/service-worker.js',
      '/portal/two-factor-authentication/registration/a.css',
      '/portal/session/a.css',
      '/portal/session.css',
      '/portal/portal.html/a.css',
      '/portal/login/a.css',
      '/portal/twoFactor.js',
    ]) {
      const { statusCode, headers, body } = await portal.send({ url: path, cookies });
      expect({ path, status: statusCode, cached: headers['cache-control'] }).toEqual({
        path,
        status: 404,
        cached: 'no-store',
      });
      expect(body, path).not.toContain('bob@');
    }
  });
});

it('a sign-in may redirect to a listed foreign origin, which Chromium checks against form-action', async () => {
  const { destinationRules } = portal.deps.config;
  const listed = await portalForTest(
    { destinationRules: { ...destinationRules, allowedOrigins: ['https://hub.example'] } },
    portal,
  );
  const policy = (await listed.send({ url: '/portal/login' })).headers['content-security-policy'];
  expect(policy).toContain("form-action 'self' https://hub.example;");
  await listed.close();
});
