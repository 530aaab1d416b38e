import { limits } from '../limits.ts';
import type { Identity } from './identity.ts';
import type { SsoConnection } from './sso-connection.ts';

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
