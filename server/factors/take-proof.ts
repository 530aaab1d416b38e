import { codeOfText, recoveryCodeOfText } from '#contract/codes.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import { codeDigests, seal, unseal } from '../crypto/keys.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { endSessionsOfUser } from '../sessions/end-sessions.ts';
import type { HalfSession } from '../sessions/half-session.ts';
import type { Visitor } from '../sessions/visitor.ts';
import { deleteRememberedDevices } from './devices.ts';
import { insertEmailFactor, takeEmailCode } from './email-code.ts';
import { makeRecoveryCodes, takeRecoveryCode } from './recovery-codes.ts';
import { findPendingSecret, totpPlace } from './registration.ts';
import { takePasskey } from './take-passkey.ts';
import { deletePendingTotp, findTotp, insertTotp, spendTotpStep, totpStep } from './totp.ts';

/** How a second factor was proven. */
export type Proof = 'app' | 'app registered' | 'email code' | 'email registered' | 'recovery code';

/** Who has to prove it; `browser`: where an app is set up. */
type Prover = Pick<HalfSession, 'userId' | 'factor' | 'mustRegister'> & {
  sessionId: string;
  browser: Pick<Visitor, 'deviceToken'>;
};

/**
 * Consumes a code in the transaction of what it opens, once, by one conditional statement; returns how it proves the second
 * factor, or null if it doesn't. The caller has locked the user and the session.
 */
export async function takeProof(deps: Deps, sql: Connection, prover: Prover, text: string): Promise<Proof | null> {
  const { factor, mustRegister } = prover;
  const code = codeOfText(text);
  if (code === null) return factor === 'app' && !mustRegister ? await takeRecovery(deps, sql, prover, text) : null;
  if (factor === 'email') return await takeEmail(deps, sql, prover, code);
  return mustRegister ? await confirmApp(deps, sql, prover, code) : await takeApp(deps, sql, prover, code);
}

async function takeApp(deps: Deps, sql: Connection, { userId }: Prover, code: string): Promise<Proof | null> {
  const sealed = await findTotp(sql, userId);
  const secret = sealed && unseal(deps.keys.seal, sealed, totpPlace(userId));
  const step = secret && totpStep(secret, code, deps.now());
  if (!step || !(await spendTotpStep(sql, userId, step))) return null;
  return 'app';
}

async function confirmApp(deps: Deps, sql: Connection, prover: Prover, code: string): Promise<Proof | null> {
  const { userId, sessionId } = prover;
  const secret = await findPendingSecret(deps, sql, prover);
  const now = deps.now();
  const step = secret && totpStep(secret, code, now);
  if (!step) return null;
  const sealedSecret = seal(deps.keys.seal, secret, totpPlace(userId));
  if (!(await insertTotp(sql, { userId, sealedSecret, lastStep: step, confirmedAt: now }))) return null;
  await deletePendingTotp(sql, userId);
  await makeRecoveryCodes(deps, sql, { userId, sessionId }, now);
  // They were opened with less, or wait for a finished registration.
  await endSessionsOfUser(sql, userId, { kept: sessionId });
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
  return (await takeRecoveryCode(sql, userId, digests, deps.now())) ? 'recovery code' : null;
}

/**
 * Takes a passkey of the user: after a password only, as a provider's sign-in goes on as its provider's, and only where it opens
 * all that the code would.
 */
export async function takePasskeyOf(
  deps: Deps,
  sql: Connection,
  { given: answer, address, passkeyToken: browserToken }: Visitor & { given: string },
  {
    userId,
    username,
    connectionId,
    customers,
  }: Pick<HalfSession, 'userId' | 'username' | 'connectionId'> & {
    customers: { key: string; takesPasskeys: boolean }[];
  },
  steps: AuditStep[],
) {
  const refused = (reason: 'by-provider' | 'passkeys-off') =>
    ({ kind: 'refused', reason, user: { id: userId, username, customers } }) as const;
  if (connectionId !== null) return refused('by-provider');
  if (!customers.every(({ takesPasskeys }) => takesPasskeys)) return refused('passkeys-off');
  return await takePasskey(deps, sql, { purpose: 'second-factor', browserToken, answer, address, userId }, steps);
}
