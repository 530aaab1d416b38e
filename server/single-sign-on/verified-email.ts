import { canonicalDomain, foldLoginName } from '../names/fold-name.ts';
import { readEmail } from '../names/read-name.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import { type Identity, type Refusal, refusalFor } from './identity.ts';

/** An address that may find a user: as the provider wrote it, and folded for comparison. */
export type VerifiedEmail = { kind: 'ok'; email: string; fold: string };

/**
 * The email address by which a subject may be linked (decisions §9): of a domain that the connection vouches for, and
 * verified. An ambiguous one finds nobody: stored addresses have one form, and only case may differ.
 */
export function verifiedEmail(connection: SsoConnection, identity: Omit<Identity, 'subject'>): VerifiedEmail | Refusal {
  if (identity.tellsSeveralEmails)
    return refusalFor(
      'unknown-user',
      'the provider sends several email addresses; configure it to send one, or name the field with --map',
    );
  if (identity.email === null) return refusalFor('unknown-user', 'the provider sends no email address');
  const reading = readEmail(identity.email);
  if (reading.kind === 'refused')
    return refusalFor('unknown-user', `the provider sends an invalid email address (${reading.problem})`);
  if (reading.value.toLowerCase() !== identity.email.toLowerCase())
    return refusalFor('unknown-user', 'the provider sends an address in an unusual form');
  const domain = canonicalDomain(reading.value.slice(reading.value.indexOf('@') + 1));
  if (!connection.domains.includes(domain)) return refusalFor('foreign-domain', domain);
  if (!identity.emailVerified && !connection.trustsEmail)
    return refusalFor('unverified-email', 'neither the provider nor the operator says that the address is verified');
  return { kind: 'ok', email: reading.value, fold: foldLoginName(reading.value) };
}
