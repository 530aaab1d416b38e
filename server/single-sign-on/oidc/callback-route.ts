import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  authorizationCodeGrant,
  type Configuration,
  fetchUserInfo,
  type IDToken,
  type UserInfoResponse,
} from 'openid-client';
import type { Deps } from '../../deps.ts';
import { splitUrl } from '../../http/request-url.ts';
import { visitorOf } from '../../sessions/visitor.ts';
import { redirectUri } from '../addresses.ts';
import { claimVisit, type OidcKept } from '../claim-visit.ts';
import { finishVisit } from '../finish-visit.ts';
import { type Identity, type ProviderAnswer, providerWords, type Refusal, refusalFor } from '../provider-answer.ts';
import type { Attributes, OidcConnection } from '../sso-connection.ts';
import { oidcProvider } from './provider.ts';
import { oidcRefusal } from './refusal.ts';

/**
 * `GET authenticate/oidc/callback/<connection>`: where OpenID providers send their answers (OpenID Connect Core
 * §3.1.2.5). The visit is claimed first, and only then the code is redeemed.
 */
export function oidcCallbackRoute(deps: Deps) {
  return async function oidcCallback(request: FastifyRequest<{ Params: { connection: string } }>, reply: FastifyReply) {
    const visitor = visitorOf(deps, request);
    // From the configuration: the request's Host must not be compared with an answer.
    const key = encodeURIComponent(request.params.connection);
    const url = new URL(redirectUri(deps.config, { key }) + splitUrl(request.url).search);
    const [state = null, another] = url.searchParams.getAll('state');
    const asked = { state: another === undefined ? state : null, protocol: 'oidc', visitor } as const;
    const claimed = await claimVisit(deps, request, reply, asked);
    if (!claimed) return reply;
    const kept = claimed.details.kept as OidcKept;
    const answer = await readOidcAnswer(deps, claimed.connection, { url, state: String(state), kept });
    return await finishVisit(deps, request, reply, visitor, claimed, answer);
  };
}

/** What a visitor came back with: the full address, and what was kept of the departure. */
type Callback = { url: URL; state: string; kept: OidcKept };

/** Reads the address that the provider redirected the visitor to. */
export async function readOidcAnswer(
  deps: Deps,
  connection: OidcConnection,
  callback: Callback,
): Promise<ProviderAnswer> {
  const misdirected = wrongInAddress(connection, callback);
  if (misdirected) return misdirected;
  const provider = await oidcProvider(deps, connection);
  if (provider.kind === 'refused') return provider;
  try {
    return await redeem(provider.client, connection, callback);
  } catch (error) {
    return oidcRefusal(error);
  }
}

function wrongInAddress({ settings }: OidcConnection, { url, kept }: Callback): Refusal | null {
  // A provider could redirect a visitor to another connection's address, to get the code of that connection's provider
  // (RFC 9700 §4.4).
  if (url.origin + url.pathname !== kept.redirectUri) {
    const words = providerWords(`the answer came to ${url.pathname}, and is expected at ${kept.redirectUri}`);
    return refusalFor('answer-invalid', words);
  }
  // RFC 9207 §2.4, announced or not. The library treats an empty one as missing.
  if (url.searchParams.getAll('iss').some((iss) => iss !== settings.issuer))
    return refusalFor('answer-invalid', 'the iss parameter is not the issuer of the connection');
  return null;
}

/**
 * Redeems the code at the token endpoint. The library verifies the address, the ID token and its signature (OpenID Connect
 * Core §3.1.3.7), but for these two.
 */
async function redeem(
  client: Configuration,
  { settings, attributes }: OidcConnection,
  { url, state, kept }: Callback,
): Promise<ProviderAnswer> {
  const tokens = await authorizationCodeGrant(client, url, {
    expectedState: state,
    expectedNonce: kept.nonce,
    pkceCodeVerifier: kept.verifier,
    idTokenExpected: true,
  });
  const claims = tokens.claims() as IDToken;
  if (claims.azp !== undefined && claims.azp !== settings.clientId)
    return refusalFor('answer-invalid', 'ID token: azp is not our client id');
  if (!isSubject(claims.sub))
    return refusalFor('answer-invalid', 'ID token: sub is not a string of 1 to 255 visible characters');
  const isEmailElsewhere = !(emailClaim(attributes) in claims) && client.serverMetadata().userinfo_endpoint;
  const userInfo = isEmailElsewhere ? await fetchUserInfo(client, tokens.access_token, claims.sub) : null;
  return { kind: 'ok', identity: oidcIdentity({ idToken: tokens.id_token as string, claims, userInfo }, attributes) };
}

/** Claims by name, of any type. */
type Claims = Record<string, unknown>;

/** The claim that holds the email address. */
function emailClaim({ email = 'email' }: Attributes): string {
  return email;
}

/**
 * What the claims say of a person. The ID token comes first; an address and whether it is verified come from the same
 * place. `email_verified` refers to the claim `email` (OpenID Connect Core §5.1): nothing vouches for another one.
 */
function oidcIdentity(
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
function isSubject(sub: string): boolean {
  return textOf(sub) !== null && !/^[\s\p{Default_Ignorable_Code_Point}]*$/u.test(sub);
}
