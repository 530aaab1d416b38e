import { type SamlProviderForTest, startSamlProvider } from '../providers/saml-provider-for-test.ts';
import { addCustomerTo } from './portal-accounts.ts';
import type { PortalUnderTest } from './portal-under-test.ts';

/** Starts SimpleSAMLphp at another site than the portal, for a customer with `sam@saml.test`. */
export async function startSamlProviderOf(portal: PortalUnderTest): Promise<SamlProviderForTest> {
  const provider = await startSamlProvider();
  await addCustomerTo(portal, 'saml', { name: 'Saml Ltd.' });
  await portal.mustRun(['user', 'add', 'sam', '--email', 'sam@saml.test', '--customer', 'saml', '--no-password']);
  await portal.mustRun([
    ...['connection', 'add', 'saml', 'saml', '--customer', 'saml', '--domain', 'saml.test'],
    ...['--metadata', provider.metadataUrl, '--provider-network', '127.0.0.0/8'],
  ]);
  const metadata = await fetch(`${portal.origin}/portal/authenticate/saml/metadata`);
  await provider.trust(await metadata.text());
  return provider;
}
