import type { SessionAnswer } from '#contract/payloads.ts';
import type { IdentityHeaders } from '../config/identity-headers.ts';

/** What hubs are told of who is signed in. */
export type NamedPerson = Pick<SessionAnswer, 'username' | 'email' | 'customers' | 'language'>;

/**
 * What a proxy passes on to the hub: who is signed in, by the names that the operator has given the headers. All of them
 * are always there: Caddy 2.6 passes on a text of its own for one that is absent.
 */
export function identityHeaders(
  names: IdentityHeaders,
  { username, email, customers, language }: NamedPerson,
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
