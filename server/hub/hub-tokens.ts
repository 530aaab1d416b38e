import type { SessionAnswer } from '#contract/payloads.ts';
import type { Config } from '../config/config.ts';
import type { HubAudience } from '../config/hub-audiences.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import type { FullSession } from '../storage/session.ts';
import { hubKeys } from './hub-keys.ts';
import { secondsOf, signJwt } from './sign-jwt.ts';

/** Who is signed in, as hubs learn it: the answer of `GET session`, and what a token says besides. */
export type Identity = Pick<FullSession, 'userId' | 'id' | 'provenAt'> & { person: SessionAnswer };

/** The claims of a hub's token (RFC 7519 §4.1, OpenID Connect Core §2 and §5.1). Times in seconds. */
type HubClaims = {
  iss: string;
  aud: string;
  sub: string;
  sid: string;
  preferred_username: string;
  email: string;
  customers: string[];
  locale?: string;
  auth_time?: number;
  iat: number;
  exp: number;
};

/**
 * Makes tokens that tell a hub who is signed in, for `limits.hubToken`. Call it only after the session was checked. Throws
 * if the database is down or no VESTIBULE_SECRET opens the key.
 */
export function hubTokens(
  deps: Pick<Deps, 'sql' | 'keys' | 'now' | 'config'>,
): (identity: Identity, audience: HubAudience) => Promise<string> {
  const keys = hubKeys(deps);
  return async function hubToken({ userId, id, provenAt, person }, { name, algorithm }) {
    const now = deps.now();
    const claims: HubClaims = {
      iss: hubIssuer(deps.config),
      aud: name,
      sub: userId,
      sid: id,
      preferred_username: person.username,
      email: person.email,
      customers: person.customers,
      ...(person.language !== null && { locale: person.language }),
      ...(provenAt && { auth_time: secondsOf(provenAt) }),
      iat: secondsOf(now),
      exp: secondsOf(now) + limits.hubToken / 1000,
    };
    return signJwt(claims, 'JWT', await keys.signing(algorithm));
  };
}

/** Who makes the tokens: the portal's address, base path included. */
export function hubIssuer({ publicUrl, basePath }: Pick<Config, 'publicUrl' | 'basePath'>): string {
  return publicUrl.origin + basePath;
}
