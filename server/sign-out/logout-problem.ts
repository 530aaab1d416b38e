import { NetworkNotListed, type ProviderFailure } from '../single-sign-on/provider-failure.ts';

/** The words of the provider's client, which names a setting of connections. */
export function logoutProblem(error: ProviderFailure): string {
  if (!(error instanceof NetworkNotListed)) return error.message;
  return `its address (${error.addresses.join(', ')}) is neither public nor in logoutNetworks`;
}
