import { randomUUID } from 'node:crypto';
import type { HubAudience } from '../config/hub-audiences.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { hubKeys } from './hub-keys.ts';
import { hubIssuer } from './hub-tokens.ts';
import { secondsOf, signJwt } from './sign-jwt.ts';

/** Makes the tokens that tell a hub of a session's end (OpenID Connect Back-Channel Logout 1.0 §2.4). */
export function hubLogoutTokens(
  deps: Pick<Deps, 'sql' | 'keys' | 'now' | 'config'>,
): (ended: { userId: string; sid: string }, audience: HubAudience) => Promise<string> {
  const keys = hubKeys(deps);
  return async function hubLogoutToken({ userId, sid }, { name, algorithm }) {
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
    return signJwt(claims, 'logout+jwt', await keys.signing(algorithm));
  };
}
