import { isOneTimeCode } from '#contract/one-time-code.ts';
import { recoveryCodeOfText } from '#contract/recovery-code.ts';
import type { Deps } from '../deps/deps.ts';
import { codeDigests } from '../secrets/code-digest.ts';
import { seal, unseal } from '../secrets/sealed.ts';
import type { Connection } from '../storage/database.ts';
import { insertEmailFactor, takeEmailCode } from '../storage/email-code.ts';
import { findFactorScope } from '../storage/factor-scope.ts';
import type { HalfSession } from '../storage/half-session.ts';
import { findOpenFactor } from '../storage/half-session.ts';
import { takeRecoveryCode } from '../storage/recovery-code.ts';
import { deleteRememberedDevices } from '../storage/remembered-device.ts';
import { endLesserSessions } from '../storage/session-list.ts';
import { deletePendingTotp, findTotpForUpdate, insertTotp, spendTotpStep } from '../storage/totp.ts';
import type { RegisteringBrowser } from './app-key.ts';
import { makeRecoveryCodes } from './recovery-codes.ts';
import { findShownKey, needsPasskey, totpPlace } from './registration.ts';
import { totpStep } from './totp.ts';

/** How a second factor was proven. */
export type Proof = 'app' | 'app registered' | 'email code' | 'email registered' | 'recovery code';

/** Who has to prove it. `nextSessionId`: the session that continues once it is proven; `browser`: where an app is set up. */
export type Prover = Pick<HalfSession, 'userId' | 'factor' | 'mustRegister'> & {
  sessionId: string;
  nextSessionId: string;
  sessionHash: Buffer;
  browser?: RegisteringBrowser;
};

/**
 * Consumes a code in the transaction of what it opens: returns how it proves the second factor, or null if it doesn't.
 * The caller has locked the user and the session. Of two requests with the same code only one succeeds, since each kind
 * of code is consumed by one conditional statement.
 */
export async function takeProof(deps: Deps, sql: Connection, prover: Prover, code: string): Promise<Proof | null> {
  const { factor, mustRegister } = prover;
  if (!isOneTimeCode(code))
    return factor === 'app' && !mustRegister ? await takeRecovery(deps, sql, prover, code) : null;
  if (factor === 'email') return await takeEmail(deps, sql, prover, code);
  return mustRegister ? await confirmApp(deps, sql, prover, code) : await takeApp(deps, sql, prover, code);
}

async function takeApp(deps: Deps, sql: Connection, { userId }: Prover, code: string): Promise<Proof | null> {
  const sealed = await findTotpForUpdate(sql, userId);
  const secret = sealed && unseal(deps.keys.seal, sealed, totpPlace(userId));
  const step = secret && totpStep(secret, code, deps.now());
  if (!step || !(await spendTotpStep(sql, userId, step))) return null;
  return 'app';
}

async function confirmApp(deps: Deps, sql: Connection, prover: Prover, code: string): Promise<Proof | null> {
  const { userId, sessionId, sessionHash, nextSessionId, browser } = prover;
  // Checked again: since the secret was shown, the user may have got a password, another customer, a code by email, or a passkey.
  if ((await findFactorScope(sql, sessionId)) !== 'mayRegister') return null;
  if ((await findOpenFactor(sql, sessionId))?.thenApp) return null;
  if (await needsPasskey(deps, sql, sessionId)) return null;
  const secret = browser && (await findShownKey(deps, sql, { id: sessionId, sessionHash }, browser));
  const now = deps.now();
  const step = secret && totpStep(secret, code, now);
  if (!step) return null;
  const sealedSecret = seal(deps.keys.seal, secret, totpPlace(userId));
  if (!(await insertTotp(sql, { userId, sealedSecret, lastStep: step, confirmedAt: now }))) return null;
  await deletePendingTotp(sql, sessionId);
  await makeRecoveryCodes(deps, sql, { userId, sessionId: nextSessionId }, now);
  // They were opened with less, or wait for a finished registration.
  await endLesserSessions(sql, { userId, sessionId });
  await deleteRememberedDevices(sql, userId);
  return 'app registered';
}

async function takeEmail(deps: Deps, sql: Connection, prover: Prover, code: string): Promise<Proof | null> {
  const { userId, sessionId, mustRegister } = prover;
  if (!(await takeEmailCode(sql, sessionId, codeDigests(deps.keys.code, code, sessionId), deps.now()))) return null;
  if (!mustRegister) return 'email code';
  await insertEmailFactor(sql, userId, deps.now());
  return 'email registered';
}

async function takeRecovery(deps: Deps, sql: Connection, { userId }: Prover, text: string): Promise<Proof | null> {
  const code = recoveryCodeOfText(text);
  const digests = code ? codeDigests(deps.keys.code, code, userId) : [];
  return (await takeRecoveryCode(sql, userId, digests, deps.now())) === null ? null : 'recovery code';
}
