import { expect, it } from 'vitest';
import { addCustomer } from '#testing/accounts-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { addSamlConnection, samlProvider } from '#testing/saml-sign-in-for-test.ts';
import { addOidcConnection } from '#testing/sso-for-test.ts';
import { migrate } from './migrate.ts';
import { listSsoConnections } from './sso-connection.ts';

const portal = portalOfFile();

it('OI-31 OI-34 older connections keep the shared redirect URI for half a year, and providers on this machine', async () => {
  const { sql } = portal;
  await addCustomer(portal, 'acme');
  const provider = (issuer: string) => ({ issuer, clientId: 'vestibule', clientSecret: 'secret' });
  await addOidcConnection(portal, provider('https://idp.acme.test'), { key: 'elsewhere' });
  await addOidcConnection(portal, provider('http://localhost:9000'), { key: 'here' });
  await addSamlConnection(portal, await samlProvider('idp.acme.test', portal.deps.now()), { key: 'saml' });
  await sql`alter table sso_connection drop column shared_redirect_until, drop column provider_networks`;
  await sql`delete from migration where name like '0012-%'`;
  expect(await migrate(sql)).toEqual(['0012-redirect-uris-and-provider-networks.sql']);
  const connections = await listSsoConnections(sql);
  expect(connections.map(({ key, providerNetworks }) => [key, providerNetworks])).toEqual([
    ['elsewhere', []],
    ['here', ['127.0.0.0/8', '::1/128']],
    ['saml', []],
  ]);
  const days = connections.map(
    ({ sharedRedirectUntil: until }) => until && (until.getTime() - Date.now()) / 86_400_000,
  );
  expect(days).toEqual([expect.closeTo(179.5, 0), expect.closeTo(179.5, 0), null]);
});
