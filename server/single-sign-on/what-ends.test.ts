import { beforeAll, expect, it } from 'vitest';
import { day } from '#server/limits.ts';
import { addCustomer } from '#test/support/accounts-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { addSamlConnection, samlProvider } from '#test/support/saml-for-test.ts';
import { addOidcConnection } from '#test/support/sso-for-test.ts';
import { warnOfEnds } from '../operations/housekeeping.ts';
import { listEnds, warningsOf } from './what-ends.ts';

const inDays = (days: number) => new Date(portal.deps.now().getTime() + days * day);
const provider = { issuer: 'https://idp.acme.test', clientId: 'vestibule', clientSecret: 'secret' };

const portal = portalOfFile();
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  await addOidcConnection(portal, provider, { key: 'soon', secretEndsAt: inDays(60) });
  await addOidcConnection(portal, provider, { key: 'later', secretEndsAt: inDays(61) });
  await addOidcConnection(portal, provider, { key: 'never' });
  await addOidcConnection(portal, provider, { key: 'off', secretEndsAt: inDays(1) });
  await portal.sql`update sso_connection set active = false where key = 'off'`;
  // Certificates in these tests are valid for three years.
  await addSamlConnection(portal, await samlProvider('idp.acme.test', inDays(30 - 3 * 365)), { key: 'saml' });
});

it('lists what expires, soonest first, without disabled connections or unlimited ones', async () => {
  const ends = await listEnds(portal.sql);
  expect(ends.map(({ connection, what }) => [connection, what])).toEqual([
    ['saml', 'certificate'],
    ['soon', 'client secret'],
    ['later', 'client secret'],
  ]);
});

it('warns from sixty days before, in words that say what to do', async () => {
  const warnings = warningsOf(await listEnds(portal.sql), portal.deps.now());
  expect(warnings).toEqual([
    expect.stringMatching(
      /^the certificate of connection saml expires in (?:29|30) days, on .* – vestibule connection set saml --metadata/,
    ),
    expect.stringMatching(
      /^the client secret of connection soon expires in 60 days, .*--client-secret-stdin --secret-ends/,
    ),
  ]);
});

it('logs it and shows it in the metrics', async () => {
  await warnOfEnds(portal.deps);
  expect(portal.logs()).toContain('the client secret of connection soon expires in 60 days');
  const metrics = await portal.deps.metrics.text();
  expect(metrics).toContain(`vestibule_ends_seconds{connection="later",what="client secret"} ${61 * 24 * 3600}`);
});
