import { codeOfText, recoveryCodeOfText } from '#contract/codes.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import { codeDigests, seal, unseal } from '../crypto/keys.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { endSessionsOfUser } from '../sessions/end-sessions.ts';
import type { HalfSession } from '../sessions/half-session.ts';
import type { Visitor } from '../sessions/visitor.ts';
import { deleteRememberedDevices } from './devices.ts';
import { makeRecoveryCodes } from './recovery-codes.ts';
import { findPendingSecret, totpPlace } from './registration.ts';
import { takePasskey } from './take-passkey.ts';
import { deletePendingTotp, findTotp, insertTotp, totpStep } from './totp.ts';

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
  if (!step) return null;
  // Steps only go up: of a code that is given twice, the second finds its own.
  const { count } = await sql`
    update totp set last_step = ${step} where user_id = ${userId} and last_step < ${step}`;
  return count > 0 ? 'app' : null;
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
  const now = deps.now();
  const { count } = await sql`
    delete from email_code
    where session_id = ${sessionId} and code_hash = any(${codeDigests(deps.keys.code, code, sessionId)}::bytea[])
      and ends_at > ${now}`;
  if (count === 0) return null;
  if (!mustRegister) return 'email code';
  await sql`
    insert into email_factor (user_id, confirmed_at) values (${userId}, ${now}) on conflict (user_id) do nothing`;
  return 'email registered';
}

async function takeRecovery(deps: Deps, sql: Connection, { userId }: Prover, text: string): Promise<Proof | null> {
  const code = recoveryCodeOfText(text);
  const digests = code ? codeDigests(deps.keys.code, code, userId) : [];
  const { count } = await sql`
    update recovery_code set used_at = ${deps.now()}
    where user_id = ${userId} and code_hash = any(${digests}::bytea[]) and used_at is null`;
  return count > 0 ? 'recovery code' : null;
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
