import type { IDToken, UserInfoResponse } from 'openid-client';
import type { Identity } from '../provider-answer.ts';
import type { Attributes } from '../sso-connection.ts';

/** Claims by name, of any type. */
type Claims = Record<string, unknown>;

/** The claim that holds the email address. */
export function emailClaim({ email = 'email' }: Attributes): string {
  return email;
}

/**
 * What the claims say of a person. The ID token comes first; an address and whether it is verified come from the same
 * place. `email_verified` refers to the claim `email` (OpenID Connect Core §5.1): nothing vouches for another one.
 */
export function oidcIdentity(
  { idToken, claims, userInfo }: { idToken: string; claims: IDToken; userInfo: UserInfoResponse | null },
  attributes: Attributes,
): Identity {
  const name = emailClaim(attributes);
  const source: Claims = name in claims || !userInfo ? claims : userInfo;
  const anywhere = (claim: string) => textOf((claims as Claims)[claim]) ?? textOf((userInfo as Claims | null)?.[claim]);
  const session = textOf(claims.sid);
  return {
    ...(session !== null && { session }),
    subject: claims.sub,
    email: textOf(source[name]),
    ...(Array.isArray(source[name]) && source[name].length > 1 && { tellsSeveralEmails: true }),
    emailVerified: name === 'email' && (source.email_verified === true || source.email_verified === 'true'),
    username: attributes.username === undefined ? null : anywhere(attributes.username),
    language: anywhere(attributes.language ?? 'locale'),
    authenticationContexts: contextsOf(claims),
    authenticatedAt: Number.isSafeInteger(claims.auth_time) ? (claims.auth_time as number) * 1000 : null,
    // OpenID Connect does not report it.
    sessionEndsAt: null,
    idToken,
  };
}

function contextsOf({ acr, amr }: Claims): string[] {
  return [acr, ...(Array.isArray(amr) ? amr : [amr])].map(textOf).filter((text) => text !== null);
}

const longestText = 255;

/** A claim that is text fit to store and show, otherwise null. */
function textOf(claim: unknown): string | null {
  const isText = typeof claim === 'string' && claim.length >= 1 && claim.length <= longestText;
  return isText && claim.isWellFormed() && !/\p{Cc}/u.test(claim) ? claim : null;
}

/** A subject is text that is not blank. */
export function isSubject(sub: string): boolean {
  return textOf(sub) !== null && !/^[\s\p{Default_Ignorable_Code_Point}]*$/u.test(sub);
}
