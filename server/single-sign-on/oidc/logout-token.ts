import { createLocalJWKSet, decodeProtectedHeader, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import type { Deps } from '../../deps/deps.ts';
import type { KeySet } from '../../deps/provider-memory.ts';
import { limits } from '../../limits.ts';
import type { OidcConnection } from '../../storage/sso-connection.ts';
import { type Refusal, refusalFor } from '../identity.ts';
import { ProviderFailure } from '../provider-failure.ts';
import { providerWords } from '../provider-words.ts';
import { idTokenAlgorithms } from './id-token-algorithms.ts';
import { isSubject } from './id-token-checks.ts';
import { mayHaveSigned } from './may-have-signed.ts';
import { unreachable } from './refusal.ts';

/** Whose sessions a provider ends: those of a subject, of one of its own sessions, or both. */
export type LogoutToken = { subject: string | null; session: string | null; jti: string; issuedAt: Date; endsAt: Date };

/** The event that a logout token must contain (Back-Channel Logout §2.4). */
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/**
 * Reads a logout token with every check of OpenID Connect Back-Channel Logout §2.6 except for reuse. With `fromMemory`
 * no keys are requested.
 */
export async function readLogoutToken(
  deps: Deps,
  connection: OidcConnection,
  token: string,
  { fromMemory = false } = {},
): Promise<({ kind: 'ok' } & LogoutToken) | Refusal> {
  try {
    const payload = await verifiedPayload(deps, connection, token, fromMemory);
    const wrong = wrongInLogoutToken(payload, deps.now());
    if (wrong !== null) return invalid(wrong);
    const { sub, sid, jti, iat } = payload as { sub?: string; sid?: string; jti: string; iat: number };
    const issuedAt = new Date(iat * 1000);
    const endsAt = new Date(iat * 1000 + limits.idTokenAge + limits.providerClock);
    return { kind: 'ok', subject: sub ?? null, session: sid ?? null, jti, issuedAt, endsAt };
  } catch (error) {
    if (error instanceof ProviderFailure) return unreachable(error);
    if (error instanceof errors.JOSEError || error instanceof TypeError) return invalid(error.message);
    throw error;
  }
}

/** The claims, once signature, issuer, audience and times are verified: as for an ID token, and by our clock. */
async function verifiedPayload(
  { providers, now }: Deps,
  { settings, providerNetworks }: OidcConnection,
  token: string,
  fromMemory: boolean,
): Promise<JWTPayload> {
  const { typ } = decodeProtectedHeader(token);
  // An explicit other type is not a logout token (RFC 8725 §3.11); older providers send JWT or nothing.
  if (typ !== undefined && !/^(?:application\/)?(?:logout\+jwt|jwt)$/i.test(typ))
    throw new errors.JOSEError(`its typ is ${providerWords(typ)}`);
  const keys = fromMemory
    ? providers.lastKeys(settings.issuer, providerNetworks)
    : await currentKeys(providers, settings.issuer, { networks: providerNetworks, token });
  if (!keys) throw new ProviderFailure('its keys were not read yet');
  const { payload } = await jwtVerify(token, createLocalJWKSet(keys as unknown as JSONWebKeySet), {
    issuer: settings.issuer,
    audience: settings.clientId,
    algorithms: [...idTokenAlgorithms],
    clockTolerance: limits.providerClock / 1000,
    currentDate: now(),
    requiredClaims: ['iat', 'exp', 'jti', 'events'],
  });
  return payload;
}

async function currentKeys(
  providers: Deps['providers'],
  issuer: string,
  { networks, token }: { networks: readonly string[]; token: string },
): Promise<KeySet> {
  const conversation = providers.open(networks);
  const metadata = await providers.discovery(issuer, conversation);
  const address = new URL(metadata.jwks_uri ?? '').href;
  return await providers.keys(address, (keySet) => mayHaveSigned(keySet, token), conversation);
}

/** What is wrong with the claims specific to logout tokens, or null. */
function wrongInLogoutToken(payload: JWTPayload, now: Date): string | null {
  const { iat = Number.NaN, exp, jti, nonce, events, sub, sid } = payload;
  if (!Number.isSafeInteger(iat) || !Number.isSafeInteger(exp)) return 'iat and exp are not times';
  const age = now.getTime() - iat * 1000;
  if (age < -limits.providerClock) return 'iat is in the future';
  if (age > limits.idTokenAge + limits.providerClock) return 'iat is too long ago';
  if (nonce !== undefined) return 'it has a nonce, as ID tokens do';
  if (!isText(jti)) return 'jti is not a string of 1 to 255 characters';
  const event = isObject(events) ? events[logoutEvent] : undefined;
  if (!isObject(event)) return 'events does not contain a logout';
  if (sub === undefined && sid === undefined) return 'it has neither sub nor sid';
  if (sub !== undefined && !isText(sub)) return 'sub is not a string of 1 to 255 characters';
  if (sid !== undefined && !isText(sid)) return 'sid is not a string of 1 to 255 characters';
  return null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && isSubject(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(words: string): Refusal {
  return refusalFor('answer-invalid', `logout token: ${providerWords(words)}`);
}
