import type { RegistrationAnswer } from '#contract/payloads.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { seal, unseal } from '../secrets/sealed.ts';
import { tokenHash } from '../secrets/token.ts';
import type { Connection } from '../storage/database.ts';
import { type FactorScope, findFactorScope, hasOwnWayNow } from '../storage/factor-scope.ts';
import { isPasskeyBeforeApp } from '../storage/passkey-before-app.ts';
import type { FullSession } from '../storage/session.ts';
import { findOrInsertPendingTotp, findPendingTotp, findTotp } from '../storage/totp.ts';
import type { Who } from '../visitor/who.ts';
import { appKey, newRegistrationToken, type RegisteringBrowser, registrationTokenOf } from './app-key.ts';
import { newTotpSecret, totpUri } from './totp.ts';

/** Who may register an app now, or why not: there is no sign-in, or the wrong one. */
export type RegistrationResult =
  | {
      kind: 'open';
      account: string;
      answer: RegistrationAnswer;
      /** For the browser to keep; null if it has it. Given anew, a late answer would replace the token of a press. */
      newToken: string | null;
    }
  | { kind: 'signedOut' }
  | { kind: 'refused' }
  /** The user has to sign in again first. */
  | { kind: 'tooOld' }
  /** The password alone opens it for nobody who has a passkey for that. */
  | { kind: 'byPasskey' }
  /** The sign-in covers only a part of the account. */
  | { kind: 'elsewhere'; scope: Exclude<FactorScope, 'mayRegister' | 'signInAgain'> };

/** The quiet zone required by the standard, in modules (ISO/IEC 18004 §5.3.8). */
const quietZone = 4;

/**
 * What an authenticator app needs (decisions §6): the same key after reloads until it is confirmed, and only for this
 * sign-in in this browser, which is to keep a new token, so that nobody else has seen it. Open to a half session that has to
 * register an app, and to users who just signed in and have none; a confirmed secret is never shown again.
 */
export async function openRegistration(deps: Deps, browser: RegisteringBrowser, who: Who): Promise<RegistrationResult> {
  if (browser.sessionToken === null) return { kind: 'signedOut' };
  const hash = tokenHash(browser.sessionToken);
  const account = await accountToRegister(deps, who);
  if (account === null) return { kind: 'signedOut' };
  if (typeof account === 'string') return { kind: account };
  const { id } = account;
  const scope = await findFactorScope(deps.sql, id);
  if (scope === 'signInAgain') return { kind: 'tooOld' };
  if (scope === 'withPassword') return { kind: 'elsewhere', scope: await ownWayOrNone(deps, account.userId) };
  if (scope !== 'mayRegister') return { kind: 'elsewhere', scope };
  const { keys } = deps;
  const { sealedSecret, madeAt } = await findOrInsertPendingTotp(deps.sql, {
    sessionId: id,
    sealedSecret: seal(keys.seal, newTotpSecret(), pendingPlace(id)),
    madeAt: deps.now(),
  });
  const secret = unseal(keys.seal, sealedSecret, pendingPlace(id));
  if (secret === null) throw new Error('cannot open the pending secret of a session');
  const registrationToken =
    registrationTokenOf(deps, browser, { sessionHash: hash, madeAt }) ?? newRegistrationToken(keys.code, hash);
  const answer = await inApp(deps, account.username, appKey(secret, registrationToken));
  const newToken = registrationToken === browser.registrationToken ? null : registrationToken;
  return { kind: 'open', account: account.username, answer, newToken };
}

/** The key that this browser was shown, to be confirmed; null if none was. */
export async function findShownKey(
  deps: Pick<Deps, 'keys' | 'now'>,
  sql: Connection,
  { id, sessionHash }: { id: string; sessionHash: Buffer },
  browser: RegisteringBrowser,
): Promise<string | null> {
  const pending = await findPendingTotp(sql, id);
  const token = pending && registrationTokenOf(deps, browser, { sessionHash, madeAt: pending.madeAt });
  const secret = pending && unseal(deps.keys.seal, pending.sealedSecret, pendingPlace(id));
  return secret && token && appKey(secret, token);
}

/** Whom a passkey keeps from it that signs them in no more needs an administrator, who can remove it. */
async function ownWayOrNone({ sql, config }: Deps, userId: string): Promise<'withPassword' | 'byAdministrator'> {
  const rpId = config.passkeys?.id ?? null;
  return (await hasOwnWayNow(sql, { userId, rpId })) ? 'withPassword' : 'byAdministrator';
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

async function accountToRegister(
  deps: Deps,
  who: Who,
): Promise<{ id: string; userId: string; username: string } | 'refused' | 'tooOld' | 'byPasskey' | null> {
  if (who.kind === 'half') {
    const { half } = who;
    if (half.codeTries >= limits.codeTries) return null;
    if (!half.mustRegister || half.factor !== 'app') return 'refused';
    return (await needsPasskey(deps, deps.sql, half.id)) ? 'byPasskey' : half;
  }
  if (who.kind !== 'full') return null;
  const { session } = who;
  if ((await findTotp(deps.sql, session.userId)) !== null) return 'refused';
  // Signing in again by the same provider would change nothing.
  return isFreshProof(session, deps.now()) || (await findFactorScope(deps.sql, session.id)) !== 'mayRegister'
    ? session
    : 'tooOld';
}

/** Whether a sign-in may set up no app, because its user has a passkey, which is more than the password. */
export async function needsPasskey(
  { config }: Pick<Deps, 'config'>,
  sql: Connection,
  sessionId: string,
): Promise<boolean> {
  return config.passkeys !== null && (await isPasskeyBeforeApp(sql, { sessionId, rpId: config.passkeys.id }));
}

/**
 * Whether a session has just proven who it is, at its sign-in or since: a remembered device replaces the code at a sign-in, but
 * not when another factor is set up. Returning from a provider that did not ask proves nothing, nor does a time further ahead than
 * clock skew allows.
 */
export function isFreshProof({ proof, provenAt }: Pick<FullSession, 'proof' | 'provenAt'>, now: Date): boolean {
  if (provenAt === null || proof === 'remembered') return false;
  const age = now.getTime() - provenAt.getTime();
  return age >= -limits.providerClock && age <= limits.freshSignIn;
}

/** Binding (additional data) for the secret shown to a session. */
export function pendingPlace(sessionId: string): string {
  return `pending-totp:${sessionId}`;
}

/** Binding (additional data) for a user's confirmed secret: a copy in another user's row does not open. */
export function totpPlace(userId: string): string {
  return `totp:${userId}`;
}
