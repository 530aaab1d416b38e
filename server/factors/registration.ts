import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RegistrationAnswer } from '#contract/payloads.ts';
import type { Keys } from '../crypto/keys.ts';
import { codeDigest, seal, unseal } from '../crypto/keys.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { setCookie } from '../http/cookies.ts';
import { refuseForeignSite } from '../http/guards.ts';
import { sendProblem } from '../http/refuse.ts';
import { limits } from '../limits.ts';
import { type Visitor, visitorOf } from '../sessions/visitor.ts';
import { findMayChangeFactors, type MayNotChangeFactors } from './may-change-factors.ts';
import { findTotp, newTotpSecret, totpUri } from './totp.ts';

/** `GET two-factor-authentication/registration`: what an app needs. It makes a secret: other sites may not request it. */
export function registrationRoute(deps: Deps) {
  return async function registration(request: FastifyRequest, reply: FastifyReply) {
    const site = request.headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return await refuseForeignSite(deps, reply);
    const result = await openRegistration(deps, reply, visitorOf(deps, request));
    if (result.kind === 'open') return reply.send(result.answer);
    if (result.kind === 'signedOut') return sendProblem(reply, 401);
    return sendProblem(reply, 409, { detail: 'This sign-in may not set up an app.' });
  };
}

/** Who may register an app now, or why not: there is no sign-in, or the wrong one. */
export type RegistrationResult =
  | { kind: 'open'; account: string; answer: RegistrationAnswer }
  | { kind: 'signedOut' }
  | { kind: 'refused' }
  /** The user has to sign in again first, or with their passkey, or elsewhere. */
  | { kind: MayNotChangeFactors; userId: string };

/** The quiet zone required by the standard, in modules (ISO/IEC 18004 §5.3.8). */
const quietZone = 4;

/**
 * What an authenticator app needs: the same key after reloads until it is confirmed. Open to a half session that has
 * to register an app, and to users who just signed in and have none; a confirmed secret is never shown again.
 */
export async function openRegistration(deps: Deps, reply: FastifyReply, visitor: Visitor): Promise<RegistrationResult> {
  const who = await visitor.who();
  if (who.kind !== 'half' && who.kind !== 'full') return { kind: 'signedOut' };
  const { id: sessionId, userId, username } = who.kind === 'half' ? who.half : who.session;
  if (who.kind === 'half' && who.half.codeTries >= limits.codeTries) return { kind: 'signedOut' };
  if (who.kind === 'half' && !(who.half.mustRegister && who.half.factor === 'app')) return { kind: 'refused' };
  if ((await findTotp(deps.sql, userId)) !== null) return { kind: 'refused' };
  const may = await findMayChangeFactors(deps, deps.sql, sessionId);
  if (may !== 'may') return { kind: may, userId };
  const setUp = { userId, sessionId, browser: visitor };
  const secret = await secretToShow(deps, setUp);
  if (visitor.deviceToken === null)
    setCookie(reply, deps.config, 'device', deviceTokenOf(deps.keys, setUp), limits.deviceLifetime);
  return { kind: 'open', account: username, answer: await inApp(deps, username, secret) };
}

/** What an authenticator app reads of a secret. */
export async function inApp(
  { config }: Pick<Deps, 'config'>,
  username: string,
  totpSecret: string,
): Promise<RegistrationAnswer> {
  // Loaded only now, as few visits register an app.
  const { toDataURL } = await import('qrcode');
  const uri = totpUri(totpSecret, config.brand.branding.name, username);
  const url = await toDataURL(uri, { errorCorrectionLevel: 'M', margin: quietZone, scale: 4 });
  return { url, totpSecret };
}

/** Binding (additional data) for a user's confirmed secret: a copy in another user's row does not open. */
export function totpPlace(userId: string): string {
  return `totp:${userId}`;
}

/**
 * Whose app is set up, and where: the secret belongs to the user and to one browser, by its `device` cookie, so that whoever knows
 * only the password, in another browser, neither sees nor plants the one that the owner confirms.
 */
type SetUp = { userId: string; sessionId: string; browser: Pick<Visitor, 'deviceToken'> };

/** The secret to show: the same after reloads and after a sign-in that was cancelled, while a half session could live. */
export async function secretToShow({ sql, keys, now }: Deps, setUp: SetUp): Promise<string> {
  const { userId } = setUp;
  const deviceHash = tokenHash(deviceTokenOf(keys, setUp));
  const place = pendingPlace(userId, deviceHash);
  const at = now();
  const endsAt = new Date(at.getTime() + limits.pendingApp);
  const [row] = await sql<[{ sealed: Buffer }]>`
    insert into pending_totp as p (user_id, device_hash, sealed_secret, ends_at)
    values (${userId}, ${deviceHash}, ${seal(keys.seal, newTotpSecret(), place)}, ${endsAt})
    on conflict (user_id, device_hash) do update set ends_at = excluded.ends_at,
      sealed_secret = case when p.ends_at > ${at} then p.sealed_secret else excluded.sealed_secret end
    returning sealed_secret as sealed`;
  const secret = unseal(keys.seal, row.sealed, place);
  if (secret === null) throw new Error('cannot open the pending secret of a user');
  return secret;
}

/** The secret that was shown, to be confirmed; null if none was. */
export async function findPendingSecret(
  { keys, now }: Pick<Deps, 'keys' | 'now'>,
  sql: Connection,
  setUp: SetUp,
): Promise<string | null> {
  const { userId } = setUp;
  const deviceHash = tokenHash(deviceTokenOf(keys, setUp));
  const [row] = await sql<{ sealed: Buffer }[]>`
    select sealed_secret as sealed from pending_totp
    where user_id = ${userId} and device_hash = ${deviceHash} and ends_at > ${now()}`;
  return row ? unseal(keys.seal, row.sealed, pendingPlace(userId, deviceHash)) : null;
}

/** The token of the browser; one that has none gets that of its session, to keep. */
function deviceTokenOf({ code }: Keys, { sessionId, browser }: SetUp): string {
  return browser.deviceToken ?? codeDigest(code, sessionId, 'browser').toString('base64url');
}

/** Binding (additional data): a copy in the row of another user or browser does not open. */
export function pendingPlace(userId: string, deviceHash: Buffer): string {
  return `pending-totp:${userId}:${deviceHash.toString('hex')}`;
}
