import { type OpenIdProvider, startOpenIdProvider } from '../providers/openid-provider-for-test.ts';
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
