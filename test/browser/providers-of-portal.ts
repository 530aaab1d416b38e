import { type OpenIdProvider, startOpenIdProvider } from '../providers/openid-provider-for-test.ts';
import { type SamlProviderForTest, startSamlProvider } from '../providers/saml-provider-for-test.ts';
import { addCustomerTo } from './portal-accounts.ts';
import type { PortalUnderTest } from './portal-under-test.ts';

/** Starts an OpenID provider at another site than the portal, for a customer with `olga@oidc.test`. */
export async function startOpenIdProviderOf(portal: PortalUnderTest): Promise<OpenIdProvider> {
  const provider = await startOpenIdProvider({
    redirectUris: [`${portal.origin}/portal/authenticate/oidc/callback/oidc`],
    postLogoutRedirectUris: [`${portal.origin}/portal/login`],
    backchannelLogoutUri: `${portal.origin}/portal/authenticate/oidc/backchannel-logout/oidc`,
  });
  await addCustomerTo(portal, 'oidc', { name: 'Oidc Ltd.' });
  await portal.mustRun(['user', 'add', 'olga', '--email', 'olga@oidc.test', '--customer', 'oidc', '--no-password']);
  const { issuer, clientId, clientSecret } = provider;
  await portal.mustRun(
    [
      ...['connection', 'add', 'oidc', 'oidc', '--customer', 'oidc', '--domain', 'oidc.test'],
      ...['--issuer', issuer, '--client-id', clientId, '--client-secret-stdin'],
      ...['--provider-network', '127.0.0.0/8'],
    ],
    clientSecret,
  );
  return provider;
}

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
