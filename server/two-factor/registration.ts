import { toDataURL } from 'qrcode';
import type { RegistrationAnswer } from '#contract/payloads.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { seal, unseal } from '../secrets/sealed.ts';
import { tokenHash } from '../secrets/token.ts';
import { findFactorScope } from '../storage/factor-scope.ts';
import { findHalfSession } from '../storage/half-session.ts';
import { findSession, type SessionRow } from '../storage/session.ts';
import { findOrInsertPendingTotp, findTotp } from '../storage/totp.ts';
import { newTotpSecret, totpUri } from './totp.ts';

/** Who may register an app now, or why nobody may: there is no sign-in, or not the right one. */
export type RegistrationResult =
  | { kind: 'open'; answer: RegistrationAnswer }
  | { kind: 'signedOut' }
  | { kind: 'refused' }
  /** Who is signed in has to do so once more before. */
  | { kind: 'tooOld' }
  /** The provider that signed in speaks for a part of the account alone. */
  | { kind: 'elsewhere'; withPassword: boolean };

/** The quiet zone that the norm asks for, in modules (ISO/IEC 18004 §5.3.8). */
const quietZone = 4;

/**
 * What an authenticator app needs (decisions §6): the same secret over reloads until it is confirmed, and for this one
 * sign-in alone, so that nobody else has seen it. Open to a half session that has to register an app, and to whoever
 * signed in a moment ago and has none; a confirmed secret is never shown again.
 */
export async function openRegistration(deps: Deps, token: string, address: string): Promise<RegistrationResult> {
  const hash = tokenHash(token);
  const account = await accountToRegister(deps, hash, address);
  if (account === null) return { kind: 'signedOut' };
  if (typeof account === 'string') return { kind: account };
  const scope = await findFactorScope(deps.sql, hash);
  if (scope !== 'mayRegister') return { kind: 'elsewhere', withPassword: scope === 'withPassword' };
  const { keys, config } = deps;
  const sealedSecret = await findOrInsertPendingTotp(deps.sql, {
    sessionHash: hash,
    userId: account.userId,
    sealedSecret: seal(keys.seal, newTotpSecret(), pendingPlace(hash)),
    madeAt: deps.now(),
  });
  const totpSecret = unseal(keys.seal, sealedSecret, pendingPlace(hash));
  if (totpSecret === null) throw new Error('the pending secret of a session cannot be opened');
  const uri = totpUri(totpSecret, config.branding.name, account.username);
  const url = await toDataURL(uri, { errorCorrectionLevel: 'M', margin: quietZone, scale: 4 });
  return { kind: 'open', answer: { url, totpSecret } };
}

async function accountToRegister(
  deps: Deps,
  hash: Buffer,
  address: string,
): Promise<{ userId: string; username: string } | 'refused' | 'tooOld' | null> {
  const now = deps.now();
  const half = await findHalfSession(deps.sql, hash, address, now);
  if (half && half.codeTries >= limits.codeTries) return null;
  if (half) return half.mustRegister && half.factor === 'app' ? half : 'refused';
  const idleSince = new Date(now.getTime() - deps.config.sessionIdle);
  const full = await findSession(deps.sql, hash, { address, idleSince, now });
  if (full?.stage !== 'full' || full.customers.length === 0) return null;
  const isFresh = isFreshSignIn(full, now);
  if ((await findTotp(deps.sql, full.userId)) !== null) return 'refused';
  // Signing in once more by the same provider would change nothing.
  return isFresh || (await findFactorScope(deps.sql, hash)) !== 'mayRegister' ? full : 'tooOld';
}

/**
 * Whether the person proved a moment ago who they are: coming back from a provider, unasked there, proves nothing, nor does
 * a time that is further ahead than a provider's clock may be.
 */
export function isFreshSignIn({ provenAt }: Pick<SessionRow, 'provenAt'>, now: Date): boolean {
  if (provenAt === null) return false;
  const age = now.getTime() - provenAt.getTime();
  return age >= -limits.providerClock && age <= limits.freshSignIn;
}

/** Where the secret that a session is shown is sealed for. */
export function pendingPlace(sessionHash: Buffer): string {
  return `pending-totp:${sessionHash.toString('hex')}`;
}

/** Where the confirmed secret of a user is sealed for: a copy in another user's row does not open. */
export function totpPlace(userId: string): string {
  return `totp:${userId}`;
}
