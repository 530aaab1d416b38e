import { decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Deps } from '../../deps.ts';
import { ProviderFailure } from '../../http/provider-fetch.ts';
import { limits } from '../../limits.ts';
import { type Refusal, refusalFor, refusalOf } from '../identity.ts';
import type { ProviderLogout } from '../provider-logout.ts';
import { providerWords } from '../provider-words.ts';
import type { OidcConnection } from '../sso-connection.ts';
import { idTokenAlgorithms, oidcProvider } from './provider.ts';

/** The event that a logout token must contain (Back-Channel Logout §2.4). */
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/**
 * Reads a logout token with the checks of OpenID Connect Back-Channel Logout §2.6. It need not be remembered: shown
 * again within its few minutes, it ends no session that was made after it.
 */
export async function readLogoutToken(
  deps: Deps,
  connection: OidcConnection,
  token: string,
): Promise<({ kind: 'ok' } & ProviderLogout) | Refusal> {
  const provider = await oidcProvider(deps, connection);
  if (provider.kind === 'refused') return provider;
  try {
    const payload = await verifiedPayload(deps, connection, token, provider.keys);
    const wrong = wrongInLogoutToken(payload);
    if (wrong !== null) return invalid(wrong);
    const { sub = null, sid, iat } = payload as { sub?: string; sid?: string; iat: number };
    return { kind: 'ok', subject: sub, sessions: sid === undefined ? [] : [sid], issuedAt: new Date(iat * 1000) };
  } catch (error) {
    if (error instanceof ProviderFailure) return refusalOf(error);
    if (error instanceof errors.JOSEError || error instanceof TypeError) return invalid(error.message);
    throw error;
  }
}

/** The claims, once signature, issuer, audience and times are verified: as for an ID token, and by our clock. */
async function verifiedPayload(
  { now }: Deps,
  { settings }: OidcConnection,
  token: string,
  keys: JWTVerifyGetKey,
): Promise<JWTPayload> {
  const { typ } = decodeProtectedHeader(token);
  // An explicit other type is not a logout token (RFC 8725 §3.11); older providers send JWT or nothing.
  if (typ !== undefined && !/^(?:application\/)?(?:logout\+jwt|jwt)$/i.test(typ))
    throw new errors.JOSEError(`its typ is ${providerWords(typ)}`);
  const { payload } = await jwtVerify(token, keys, {
    issuer: settings.issuer,
    audience: settings.clientId,
    algorithms: [...idTokenAlgorithms],
    clockTolerance: limits.providerClock / 1000,
    maxTokenAge: limits.logoutTokenAge / 1000,
    currentDate: now(),
    requiredClaims: ['iat', 'exp', 'jti', 'events'],
  });
  return payload;
}

/** What is wrong with the claims specific to logout tokens, or null. */
function wrongInLogoutToken({ nonce, events, sub, sid }: JWTPayload): string | null {
  if (nonce !== undefined) return 'it has a nonce, as ID tokens do';
  if (!isObject(events) || !isObject(events[logoutEvent])) return 'events does not contain a logout';
  const named = [sub, sid].filter((one) => one !== undefined);
  return named.length > 0 && named.every((one) => typeof one === 'string' && one !== '')
    ? null
    : 'it has no sub or sid that is text';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(words: string): Refusal {
  return refusalFor('answer-invalid', `logout token: ${providerWords(words)}`);
}
