import { limits } from '../limits.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import type { Identity } from './identity.ts';

/**
 * When the person proved to the provider who they are; null where it does not say, or names a time that has not come by
 * any clock: kept, it would count as a proof once it has. One before there were such clocks says nothing either, and not
 * each could be stored.
 */
export function provenAtProvider({ authenticatedAt }: Pick<Identity, 'authenticatedAt'>, now: Date): Date | null {
  if (authenticatedAt === null || authenticatedAt < 0) return null;
  if (authenticatedAt > now.getTime() + limits.providerClock) return null;
  return new Date(authenticatedAt);
}

/**
 * Why an answer says too little of when the person proved who he is, or that it was too long ago for this connection;
 * null when it is good, or the operator set no maximum. A provider's clock may be off as ever.
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
