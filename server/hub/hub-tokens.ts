import { randomUUID, sign } from 'node:crypto';
import type { HubAudience } from '../config/hub.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { fittingGroups, type Identity } from './hub-headers.ts';
import { hubKeys } from './hub-keys.ts';

type TokenDeps = Pick<Deps, 'sql' | 'keys' | 'now' | 'config'>;

/**
 * Makes tokens that tell a hub who is signed in (RFC 7519 §4.1, OpenID Connect Core §2 and §5.1), for `limits.hubToken`. Call it
 * only after the session was checked. Throws if the database is down or no VESTIBULE_SECRET opens the key.
 */
export function hubTokens(deps: TokenDeps): (identity: Identity, audience: HubAudience) => Promise<string> {
  const signed = hubSigner(deps);
  return async function hubToken({ userId, id, provenAt, person }, audience) {
    return await signed('JWT', audience, {
      sub: userId,
      sid: id,
      preferred_username: person.username,
      email: person.email,
      ...(person.name !== null && { name: person.name }),
      customers: person.customers,
      groups: fittingGroups(person.groups),
      ...(person.language !== null && { locale: person.language }),
      ...(provenAt && { auth_time: secondsOf(provenAt) }),
    });
  };
}

/** Makes the tokens that tell a hub of a session's end (OpenID Connect Back-Channel Logout 1.0 §2.4). */
export function hubLogoutTokens(
  deps: TokenDeps,
): (ended: { userId: string; sid: string }, audience: HubAudience) => Promise<string> {
  const signed = hubSigner(deps);
  return async function hubLogoutToken({ userId, sid }, audience) {
    return await signed('logout+jwt', audience, {
      sub: userId,
      sid,
      // A new one each time: a hub that has seen this one before may refuse it as a copy, though its answer was lost.
      jti: randomUUID(),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    });
  };
}

/**
 * Signs claims as a JWT in compact form (RFC 7515 §3.1, RFC 7518 §3.4), in the name of the portal's address, base path included.
 * On this thread: a signature takes 50 µs, and in Node's pool it would wait for password hashes.
 */
function hubSigner(deps: TokenDeps) {
  const keys = hubKeys(deps);
  const iss = deps.config.publicUrl.origin + deps.config.basePath;
  return async function signed(typ: string, { name: aud }: HubAudience, about: object): Promise<string> {
    const iat = secondsOf(deps.now());
    const claims = { iss, aud, ...about, iat, exp: iat + limits.hubToken / 1000 };
    const { id, privateKey } = await keys.signing();
    const text = `${encoded({ alg: 'ES256', kid: id, typ })}.${encoded(claims)}`;
    const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${text}.${signature.toString('base64url')}`;
  };
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** A time in a token: whole seconds (RFC 7519 §2). */
function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
