import { limits } from '../limits.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import type { Identity } from './identity.ts';
import type { RequestDetails } from './request-details.ts';

/**
 * When the person authenticated at the provider; null if the provider does not say, or names a time beyond the
 * tolerance for clocks in the future, which would become a proof later if it were stored. Impossibly early times are
 * ignored too, as not all of them can be stored.
 */
export function provenAtProvider({ authenticatedAt }: Pick<Identity, 'authenticatedAt'>, now: Date): Date | null {
  if (authenticatedAt === null || authenticatedAt < 0) return null;
  if (authenticatedAt > now.getTime() + limits.providerClock) return null;
  return new Date(authenticatedAt);
}

/**
 * Why an answer does not show that the person authenticated recently enough for this connection; null if it does, or if
 * the operator set no maximum. Allows for clock skew as usual.
 */
export function tooLongAgo(
  { settings: { maxAuthenticationAge: most = null } }: Pick<SsoConnection, 'settings'>,
  { authenticatedAt }: Identity,
  now: Date,
): string | null {
  if (most === null) return null;
  if (authenticatedAt === null) return 'the provider does not say when the person signed in there (auth_time)';
  const age = now.getTime() - authenticatedAt;
  if (age < -limits.providerClock) return 'the sign-in at the provider is in the future';
  if (age <= most * 1000 + limits.providerClock) return null;
  return `the person signed in at the provider at ${new Date(authenticatedAt).toISOString()}`;
}

/**
 * Why an answer after a sign-out does not show that the person signed in at the provider during this visit; null if it
 * does. An answer without a time is accepted only if the provider was asked just for an account: with `max_age` a
 * provider has to send it (OpenID Connect Core §2), unless someone removed that from the address. Allows for clock skew
 * as usual, if the provider was asked: else it would answer for whoever has just left.
 */
export function notAskedAfresh(
  { authenticatedAt }: Pick<Identity, 'authenticatedAt'>,
  { isAfresh, url, madeAt }: Pick<RequestDetails, 'isAfresh' | 'url'> & { madeAt: Date },
): string | null {
  const asked = isAfresh ? 'requested from the provider' : 'not requested from the provider';
  if (authenticatedAt === null) {
    if (!isAfresh) return asked;
    const isAccountAsked = url !== null && new URL(url).searchParams.get('prompt') === 'select_account';
    return isAccountAsked ? null : `${asked}, which does not say when it was`;
  }
  // The time is in whole seconds.
  const tolerance = isAfresh ? limits.providerClock : 1000;
  if (authenticatedAt >= madeAt.getTime() - tolerance) return null;
  const at = new Date(authenticatedAt);
  return `${asked}, which reports one ${Number.isNaN(at.getTime()) ? 'long ago' : `at ${at.toISOString()}`}`;
}
