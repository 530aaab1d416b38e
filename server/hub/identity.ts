import type { SessionAnswer } from '#contract/payloads.ts';
import type { IdentityHeaders } from '../config/hub.ts';
import type { Who } from '../sessions/who.ts';
import type { Identity } from './hub-tokens.ts';

/** Null if nobody is signed in: a half session is not. */
export function identityOf(who: Who): Identity | null {
  if (who.kind !== 'full') return null;
  const { userId, id, provenAt, username, email, language, customers, createdAt, endsAt } = who.session;
  const signedInAt = createdAt.toISOString();
  const expiresAt = endsAt.toISOString();
  return { userId, id, provenAt, person: { username, email, language, customers, signedInAt, expiresAt } };
}

/**
 * What a proxy passes on to the hub: who is signed in, by the names that the operator has given the headers. All of them
 * are always there: Caddy 2.6 passes on a text of its own for one that is absent.
 */
export function identityHeaders(
  names: IdentityHeaders,
  { username, email, customers, language }: SessionAnswer,
  token: string | null,
): Record<string, string> {
  return {
    [names.user]: encoded(username),
    [names.email]: encoded(email),
    [names.customers]: customers.map(encoded).join(','),
    [names.language]: encoded(language ?? ''),
    [names.token]: token ?? '',
  };
}

/** Percent-encodes all but visible ASCII, and the percent sign: no name can end a header or be read as two. */
function encoded(text: string): string {
  return text.replace(/[^!-$&-+\--~]+/g, encodeURIComponent);
}
