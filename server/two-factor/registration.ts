import type { FastifyReply } from 'fastify';
import type { RegistrationAnswer } from '#contract/payloads.ts';
import type { Deps } from '../deps/deps.ts';
import { setCookie } from '../http/cookies.ts';
import { limits } from '../limits.ts';
import { findTotp } from '../storage/totp.ts';
import type { Visitor } from '../visitor/visitor.ts';
import { findMayChangeFactors, type MayChangeFactors } from './may-change-factors.ts';
import { browserTokenOf, secretToShow } from './pending-secret.ts';
import { totpUri } from './totp.ts';

/** Who may register an app now, or why not: there is no sign-in, or the wrong one. */
export type RegistrationResult =
  | { kind: 'open'; account: string; answer: RegistrationAnswer }
  | { kind: 'signedOut' }
  | { kind: 'refused' }
  /** The user has to sign in again first, or with their passkey, or elsewhere. */
  | { kind: Exclude<MayChangeFactors, 'may'>; userId: string };

/** The quiet zone required by the standard, in modules (ISO/IEC 18004 §5.3.8). */
const quietZone = 4;

/**
 * What an authenticator app needs (decisions §6): the same key after reloads until it is confirmed. Open to a half session that has
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
    setCookie(reply, deps.config, 'device', browserTokenOf(deps.keys, setUp), limits.deviceLifetime);
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
