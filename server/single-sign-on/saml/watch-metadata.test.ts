import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { day } from '#server/limits.ts';
import { addCustomer } from '#test/support/accounts-for-test.ts';
import type { PortalForTest } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyTables } from '#test/support/rows-for-test.ts';
import { addSamlConnection, type SamlProviderForTest, samlProvider } from '#test/support/saml-for-test.ts';
import { ProviderFailure } from '../../http/provider-fetch.ts';
import { warnOfEnds } from '../../operations/housekeeping.ts';
import { changeConnection } from '../change-connection.ts';
import type { SamlSettings } from '../sso-connection.ts';
import { findSsoConnectionByKey } from '../sso-connection.ts';
import { metadataWarnings, watchMetadata } from './watch-metadata.ts';

const url = 'https://idp.acme.test/metadata';
let acme: SamlProviderForTest;
let next: SamlProviderForTest;
const portal = portalOfFile();
const second = otherInstanceOfFile(portal);
beforeAll(async () => {
  [acme, next] = (await Promise.all(
    ['idp.acme.test', 'next.acme.test'].map((name) => samlProvider(name, portal.deps.now())),
  )) as [SamlProviderForTest, SamlProviderForTest];
});

let asked: string[];
let certificates: string[];
beforeEach(async () => {
  await emptyTables(portal, 'customer', 'sso_connection', 'audit_event');
  await addCustomer(portal, 'acme');
  await addSamlConnection(portal, acme);
  await portal.sql`update sso_connection set settings = settings || ${JSON.stringify({ metadataUrl: url })}`;
  asked = [];
  certificates = [acme.key.certificate];
});

const metadata = () => {
  const keys = certificates.map((pem) => {
    const text = pem.replace(/-----[A-Z ]+-----/g, '');
    return `<KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${text}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></KeyDescriptor>`;
  });
  return `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="${acme.entityId}"><IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${keys.join('')}<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${acme.entityId}/sign-on"/></IDPSSODescriptor></EntityDescriptor>`;
};
const watch = (on: PortalForTest = portal) =>
  watchMetadata(on.deps, () => ({
    read: (address) => {
      asked.push(address);
      return Promise.resolve(new Response(metadata()));
    },
  }));
const settings = async () => (await findSsoConnectionByKey(portal.sql, 'acme-saml'))?.settings as SamlSettings;
const events = async () =>
  await portal.sql<{ steps: { outcome: string }[] }[]>`
    select steps from audit_event where event = 'connection-metadata-changed'`;

it('reads once a day, over two instances', async () => {
  await Promise.all([watch(), watch(second)]);
  await watch();
  expect(asked).toEqual([url]);
  portal.wait(day);
  await watch();
  expect(asked).toEqual([url, url]);
  expect(await events()).toHaveLength(0);
});

it('OI-34 reads only in the networks of the connection', async () => {
  const address = 'https://127.0.0.1:9/metadata';
  await portal.sql`update sso_connection set settings = settings || ${JSON.stringify({ metadataUrl: address })}`;
  const warn = vi.spyOn(portal.deps.log, 'warn').mockImplementation(() => {});
  const problem = async (networks: string[]) => {
    warn.mockClear();
    await portal.sql`update sso_connection set provider_networks = ${networks}::text[]::cidr[]`;
    portal.wait(day);
    await watchMetadata(portal.deps);
    return String(warn.mock.lastCall?.[0]);
  };
  expect(await problem([])).toMatch(/cannot be read again: .*--provider-network/);
  expect(await problem(['127.0.0.0/8'])).toMatch(/cannot be read again: (?!.*--provider-network)/);
  warn.mockRestore();
});

it('SA-16 reports a new signing key once, by an event, in the log and to doctor, and never adopts it', async () => {
  await watch();
  certificates.push(next.key.certificate);
  const before = await settings();
  for (let reading = 0; reading < 3; reading += 1) {
    portal.wait(day);
    await watch();
  }
  expect(await settings()).toEqual(before);
  expect((await events()).map(({ steps }) => steps[0]?.outcome)).toEqual([
    expect.stringMatching(/^certificates: [0-9A-F:]{95} is there and not here$/),
  ]);
  const warning =
    /metadata of connection acme-saml have changed .* connection set acme-saml --metadata https:\/\/idp\.acme\.test\/metadata/;
  expect(portal.logs()).toMatch(warning);
  expect(await metadataWarnings(portal.sql)).toEqual([expect.stringMatching(warning)]);
  const length = portal.logs().length;
  await warnOfEnds(portal.deps);
  expect(portal.logs().slice(length)).toMatch(warning);
});

it('is silent once the operator has adopted it, or the provider has withdrawn it', async () => {
  certificates.push(next.key.certificate);
  await watch();
  expect(await metadataWarnings(portal.sql)).toHaveLength(1);
  const taken = { ...(await settings()), certificates };
  await changeConnection(portal.deps, 'acme-saml', { settings: taken }, portal.deps.now());
  expect(await metadataWarnings(portal.sql)).toEqual([]);
  await watch();
  expect(await metadataWarnings(portal.sql)).toEqual([]);
  certificates = [acme.key.certificate];
  portal.wait(day);
  await watch();
  expect(await metadataWarnings(portal.sql)).toEqual([expect.stringContaining('is here and not there')]);
  certificates.push(next.key.certificate);
  portal.wait(day);
  await watch();
  expect(await metadataWarnings(portal.sql)).toEqual([]);
});

it('a provider that fails or answers something else changes nothing of what is known', async () => {
  certificates.push(next.key.certificate);
  await watch();
  portal.wait(day);
  await watchMetadata(portal.deps, () => ({ read: () => Promise.reject(new ProviderFailure('nobody answers')) }));
  expect(portal.logs()).toContain('cannot be read again: nobody answers');
  portal.wait(day);
  await watchMetadata(portal.deps, () => ({ read: () => Promise.resolve(new Response('<html/>')) }));
  expect(await metadataWarnings(portal.sql)).toHaveLength(1);
  expect(await events()).toHaveLength(1);
});

it('ignores connections that are disabled, or whose metadata came from a file', async () => {
  await portal.sql`update sso_connection set active = false`;
  await watch();
  await portal.sql`update sso_connection set active = true, settings = settings || '{"metadataUrl": null}'`;
  await watch();
  expect(asked).toEqual([]);
});
