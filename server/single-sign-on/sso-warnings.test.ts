import { beforeAll, expect, it } from 'vitest';
import { addCustomer } from '#test/support/accounts-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { addSamlConnection, samlProvider } from '#test/support/saml-for-test.ts';
import { addOidcConnection } from '#test/support/sso-for-test.ts';
import { day } from '../limits.ts';
import { warnOfEnds } from '../operations/housekeeping.ts';
import { updateMetadataDifferences } from './saml/watch-metadata.ts';
import { listEnds, ssoWarnings } from './sso-warnings.ts';

const portal = portalOfFile();
const inDays = (days: number) => new Date(portal.deps.now().getTime() + days * day);
const provider = { issuer: 'http://127.0.0.1:9', clientId: 'vestibule', clientSecret: 'secret' };

beforeAll(async () => {
  await addCustomer(portal, 'acme');
  await addOidcConnection(portal, provider, { key: 'soon', secretEndsAt: inDays(60) });
  await addOidcConnection(portal, provider, { key: 'later', secretEndsAt: inDays(61) });
  await addOidcConnection(portal, provider, { key: 'inside', providerNetworks: [] });
  await addOidcConnection(portal, provider, { key: 'off', secretEndsAt: inDays(1) });
  await portal.sql`update sso_connection set active = false where key = 'off'`;
  // Certificates in these tests are valid for three years.
  const id = await addSamlConnection(portal, await samlProvider('idp.acme.test', inDays(30 - 3 * 365)), {
    key: 'saml',
  });
  const settings = JSON.stringify({ metadataUrl: 'https://8.8.8.8/metadata' });
  await portal.sql`
    update sso_connection set settings = settings || ${settings}, metadata_read_at = now() where id = ${id}`;
  await updateMetadataDifferences(portal.sql, id, ['another certificate']);
});

it('lists what expires, soonest first, without disabled connections or unlimited ones', async () => {
  const ends = await listEnds(portal.sql);
  expect(ends.map(({ connection, what }) => [connection, what])).toEqual([
    ['saml', 'certificate'],
    ['soon', 'client secret'],
    ['later', 'client secret'],
  ]);
});

it('OI-34 an operator is warned of all they have to do, in words that say what, from sixty days before', async () => {
  expect(await ssoWarnings(portal.deps)).toEqual([
    expect.stringMatching(
      /^the certificate of connection saml expires in (?:29|30) days, on .* – vestibule connection set saml --metadata/,
    ),
    expect.stringMatching(
      /^the client secret of connection soon expires in 60 days, .*--client-secret-stdin --secret-ends/,
    ),
    expect.stringMatching(/^connection inside: its provider is at 127\.0\.0\.1/),
    expect.stringMatching(/^the metadata of connection saml have changed \(another certificate\)/),
  ]);
});

it('logs it and shows it in the metrics', async () => {
  await warnOfEnds(portal.deps);
  expect(portal.logs()).toContain('the client secret of connection soon expires in 60 days');
  const metrics = await portal.deps.metrics.text();
  expect(metrics).toContain(`vestibule_ends_seconds{connection="later",what="client secret"} ${61 * 24 * 3600}`);
});
