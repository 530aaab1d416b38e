import { beforeEach, expect, it } from 'vitest';
import { addCustomer } from '#test/support/accounts-for-test.ts';
import type { PortalForTest } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyTables } from '#test/support/rows-for-test.ts';
import { addSamlConnection, metadataXml, samlProvider, samlProviderOfFile } from '#test/support/saml-for-test.ts';
import { addOidcConnection } from '#test/support/sso-for-test.ts';
import { ProviderFailure } from '../http/provider-fetch.ts';
import { day } from '../limits.ts';
import { warnOfEnds } from '../operations/housekeeping.ts';
import { changeConnection } from './change-connection.ts';
import { watchMetadata } from './saml/watch-metadata.ts';
import { findSsoConnectionByKey, type SamlSettings } from './sso-connection.ts';
import { ssoWarnings } from './sso-warnings.ts';

const portal = portalOfFile();
const second = otherInstanceOfFile(portal);
const acme = samlProviderOfFile(portal, 'idp.acme.test');
const next = samlProviderOfFile(portal, 'next.acme.test');
const url = 'https://idp.acme.test/metadata';
let asked: string[];
let certificates: string[];
beforeEach(async () => {
  await emptyTables(portal, 'customer', 'sso_connection', 'audit_event');
  await addCustomer(portal, 'acme');
  asked = [];
  certificates = [acme.key.certificate];
});

const set = (settings: object) =>
  portal.sql`update sso_connection set settings = settings || ${JSON.stringify(settings)}`;
const addWatched = async () => [await addSamlConnection(portal, acme), await set({ metadataUrl: url })];
/** A day later, the provider's metadata are read, which hold these certificates or are this. */
async function watch(on: PortalForTest = portal, answer?: () => Promise<Response>): Promise<void> {
  const signOnUrl = `${acme.entityId}/sign-on`;
  const published = metadataXml({ entityId: acme.entityId, signOnUrl, certificates });
  const read = (address: string) => {
    asked.push(address);
    return answer?.() ?? Promise.resolve(new Response(published));
  };
  await watchMetadata(on.deps, () => ({ read }));
}
const aDayLater = async (...given: Parameters<typeof watch>) => [portal.wait(day), await watch(...given)];
const settings = async () => (await findSsoConnectionByKey(portal.sql, 'acme-saml'))?.settings as SamlSettings;
const warnings = () => ssoWarnings(portal.deps);
const events = async () =>
  (await portal.sql`select steps from audit_event where event = 'connection-metadata-changed'`).map(
    ({ steps }) => steps[0].outcome,
  );

it('the operator is warned of what expires and who is locked out, in the log and the metrics too', async () => {
  const inDays = (days: number) => new Date(portal.deps.now().getTime() + days * day);
  const provider = { issuer: 'http://127.0.0.1:9', clientId: 'vestibule', clientSecret: 'secret' };
  await addOidcConnection(portal, provider, { key: 'soon', secretEndsAt: inDays(60) });
  await addOidcConnection(portal, provider, { key: 'later', secretEndsAt: inDays(61) });
  const off = { required: true, domains: ['off.test'] };
  await addOidcConnection(portal, provider, { key: 'off', secretEndsAt: inDays(1), ...off });
  await portal.sql`update sso_connection set active = false where key = 'off'`;
  // Certificates in these tests are valid for three years.
  await addSamlConnection(portal, await samlProvider('old.test', inDays(30 - 3 * 365)), { key: 'saml' });
  const expected = [
    /^the certificate of connection saml expires in (?:29|30) days, .* vestibule connection set saml --metadata/,
    /^the client secret of connection soon expires in 60 days, .*--client-secret-stdin --secret-ends/,
    /^nobody in off\.test can sign in: .* connection set <key> --enable/,
  ];
  expect(await warnings()).toEqual(expected.map((words) => expect.stringMatching(words)));
  await warnOfEnds(portal.deps);
  expect(portal.logs()).toContain('the client secret of connection soon expires in 60 days');
  const metrics = await portal.deps.metrics.text();
  expect(metrics).toContain(`vestibule_ends_seconds{connection="later",what="client secret"} ${61 * 24 * 3600}`);
});

it('SAML metadata are read once a day over two instances, if they came from an address and are in use', async () => {
  await addWatched();
  await Promise.all([watch(), watch(second)]);
  await watch();
  expect(asked).toEqual([url]);
  await aDayLater();
  expect([asked, await events()]).toEqual([[url, url], []]);
  await portal.sql`update sso_connection set active = false`;
  await aDayLater();
  await portal.sql`update sso_connection set active = true`;
  await set({ metadataUrl: null });
  await aDayLater();
  expect(asked).toHaveLength(2);
});

it('SA-16 a new signing key is reported once, and never adopted, until the operator does or it is withdrawn', async () => {
  await addWatched();
  await watch();
  const before = await settings();
  certificates.push(next.key.certificate);
  for (let days = 0; days < 3; days += 1) await aDayLater();
  expect(await settings()).toEqual(before);
  expect(await events()).toEqual([expect.stringMatching(/^certificates: [0-9A-F:]{95} is there and not here$/)]);
  const warning = /metadata of connection acme-saml have changed .* connection set acme-saml --metadata https:/;
  expect(portal.logs()).toMatch(warning);
  expect(await warnings()).toEqual([expect.stringMatching(warning)]);
  // A provider that fails or answers something else changes nothing of what is known.
  await aDayLater(portal, () => Promise.reject(new ProviderFailure('nobody answers')));
  await aDayLater(portal, () => Promise.resolve(new Response('<html/>')));
  expect([await warnings(), await events()]).toMatchObject([{ length: 1 }, { length: 1 }]);
  const adopted = { settings: { ...before, certificates } };
  await changeConnection(portal.deps, 'acme-saml', adopted, portal.by());
  await watch();
  expect(await warnings()).toEqual([]);
  certificates = [acme.key.certificate];
  await aDayLater();
  expect(await warnings()).toEqual([expect.stringContaining('is here and not there')]);
  certificates.push(next.key.certificate);
  await aDayLater();
  expect(await warnings()).toEqual([]);
});
