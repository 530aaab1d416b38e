import { expect, it } from 'vitest';
import { addCustomer } from '#test/support/accounts-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { addSamlConnection, samlProvider } from '#test/support/saml-for-test.ts';
import { addOidcConnection } from '#test/support/sso-for-test.ts';
import { day } from '../limits.ts';
import { updateMetadataDifferences } from './saml-metadata-reading.ts';
import { ssoWarnings } from './sso-warnings.ts';

const portal = portalOfFile();

it('OI-34 an operator is warned of everything they have to do, by each connection’s key', async () => {
  const { deps, sql } = portal;
  await addCustomer(portal, 'acme');
  const provider = { issuer: 'http://127.0.0.1:9', clientId: 'vestibule', clientSecret: 'secret' };
  const secretEndsAt = new Date(deps.now().getTime() + 3 * day);
  await addOidcConnection(portal, provider, { key: 'ends', secretEndsAt });
  await addOidcConnection(portal, provider, { key: 'inside', providerNetworks: [] });
  const honest = await samlProvider('idp.acme.test', deps.now());
  const id = await addSamlConnection(portal, honest, { key: 'honest' });
  expect(await ssoWarnings(deps)).toHaveLength(2);
  const metadataUrl = 'https://8.8.8.8/metadata';
  await sql`update sso_connection set settings = settings || ${JSON.stringify({ metadataUrl })} where key = 'honest'`;
  await sql`update sso_connection set metadata_read_at = ${deps.now()} where id = ${id}`;
  await updateMetadataDifferences(sql, id, ['another certificate']);
  expect((await ssoWarnings(deps)).sort()).toEqual([
    expect.stringMatching(/^connection inside: its provider is at 127\.0\.0\.1/),
    expect.stringMatching(/client secret of connection ends expires in 3 days/),
    expect.stringMatching(/^the metadata of connection honest have changed \(another certificate\)/),
  ]);
});
