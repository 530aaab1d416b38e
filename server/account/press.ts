import type { Deps } from '../deps/deps.ts';
import { codeDigests } from '../secrets/code-digest.ts';
import { browserHash } from '../visitor/browser-hash.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import type { Fields } from './section.ts';

/** What makes two posts of the account page the same press: session, browser and address, and the whole form. */
export type AccountPress = {
  visitor: Pick<KnownVisitor, 'sessionToken' | 'deviceToken' | 'userAgent' | 'address'>;
  fields: Fields;
};

/**
 * The token by which a session goes on after a press. It is derived with a server's key, so that the second press of one
 * button gets that of the first (docs/decisions/0028); the press contains the session's own token, so that the key alone does
 * not yield it.
 */
export function nextToken(deps: Pick<Deps, 'keys'>, press: AccountPress): string {
  return nextTokens(deps, press)[0] as string;
}

/** The same with the current key and with older ones. */
export function nextTokens({ keys }: Pick<Deps, 'keys'>, { visitor, fields }: AccountPress): string[] {
  const place = JSON.stringify(['account press', browserHash(visitor).toString('hex'), visitor.address]);
  return codeDigests(keys.code, JSON.stringify(fields), place).map((digest) => digest.toString('base64url'));
}
