import { randomUUID, sign } from 'node:crypto';
import type { Config } from '../config/config.ts';
import type { HubAudience } from '../config/hub.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { fittingGroups, type Identity } from './hub-headers.ts';
import { hubKeys, type SigningKey } from './hub-keys.ts';

/** The claims of a hub's token (RFC 7519 §4.1, OpenID Connect Core §2 and §5.1). Times in seconds. */
type HubClaims = {
  iss: string;
  aud: string;
  sub: string;
  sid: string;
  preferred_username: string;
  email: string;
  name?: string;
  customers: string[];
  groups: string[];
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
  return async function hubToken({ userId, id, provenAt, person }, { name }) {
    const now = deps.now();
    const claims: HubClaims = {
      iss: hubIssuer(deps.config),
      aud: name,
      sub: userId,
      sid: id,
      preferred_username: person.username,
      email: person.email,
      ...(person.name !== null && { name: person.name }),
      customers: person.customers,
      groups: fittingGroups(person.groups),
      ...(person.language !== null && { locale: person.language }),
      ...(provenAt && { auth_time: secondsOf(provenAt) }),
      iat: secondsOf(now),
      exp: secondsOf(now) + limits.hubToken / 1000,
    };
    return signJwt(claims, 'JWT', await keys.signing());
  };
}

/** Who makes the tokens: the portal's address, base path included. */
function hubIssuer({ publicUrl, basePath }: Pick<Config, 'publicUrl' | 'basePath'>): string {
  return publicUrl.origin + basePath;
}

/** Makes the tokens that tell a hub of a session's end (OpenID Connect Back-Channel Logout 1.0 §2.4). */
export function hubLogoutTokens(
  deps: Pick<Deps, 'sql' | 'keys' | 'now' | 'config'>,
): (ended: { userId: string; sid: string }, audience: HubAudience) => Promise<string> {
  const keys = hubKeys(deps);
  return async function hubLogoutToken({ userId, sid }, { name }) {
    const iat = secondsOf(deps.now());
    const claims = {
      iss: hubIssuer(deps.config),
      aud: name,
      sub: userId,
      sid,
      iat,
      exp: iat + limits.hubToken / 1000,
      // A new one each time: a hub that has seen this one before may refuse it as a copy, though its answer was lost.
      jti: randomUUID(),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    };
    return signJwt(claims, 'logout+jwt', await keys.signing());
  };
}

/**
 * Signs claims as a JWT in compact form (RFC 7515 §3.1, RFC 7518 §3.4). On this thread: a signature takes
 * 50 µs, and in Node's pool it would wait for password hashes.
 */
function signJwt(claims: object, typ: string, { id, privateKey }: SigningKey): string {
  const text = `${encoded({ alg: 'ES256', kid: id, typ })}.${encoded(claims)}`;
  const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** A time in a token: whole seconds (RFC 7519 §2). */
function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
