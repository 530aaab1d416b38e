import { type AuditStep, customersOfEvent } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { placeOfVisitor, queueMail } from '../mail/queue-mail.ts';
import { browserName } from '../names/browser-name.ts';
import { refusePasskey } from '../passkeys/refuse-passkey.ts';
import { type RefusedPasskey, takePasskey } from '../passkeys/take-passkey.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import { nextToken } from '../session/next-token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { RollBack } from '../storage/database.ts';
import { findHalfSessionForUpdate, type HalfSession, updateHalfSessionProven } from '../storage/half-session.ts';
import { findActiveUserForChange } from '../storage/portal-user.ts';
import { insertRememberedDevice } from '../storage/remembered-device.ts';
import { deleteThrottle } from '../storage/throttle.ts';
import { codeKey, codeMailKey } from '../storage/throttle-keys.ts';
import { findTotp } from '../storage/totp.ts';
import { whoHas } from '../visitor/who.ts';
import { countTry, recordThrottledTry } from './count-try.ts';
import { noteDevice } from './note-device.ts';
import { offsetOfCode, type Proof, takeProof } from './take-proof.ts';
import type { Right, VerifyRequest, VerifyResult } from './verify-result.ts';

/** Every attempt is counted before the check, per half session and account and way in. */
export async function verifyHalf(deps: Deps, request: VerifyRequest, half: HalfSession): Promise<VerifyResult> {
  const { username } = half;
  const counted = await countTry(deps, half.id, half);
  if (counted.kind === 'usedUp')
    return (await whoHas(deps, tokenHash(request.sessionToken), request.address)).kind === 'half'
      ? { kind: 'tooManyTries', username }
      : { kind: 'signInExpired' };
  if (counted.kind === 'throttled') await recordThrottledTry(deps, eventOf(half, request), half, counted);
  if (counted.kind !== 'counted') return counted;
  const steps: AuditStep[] = [];
  const done = await deps.sql.begin((sql) => takeStep(deps, sql, request, half, steps));
  if (done === 'gone') return { kind: 'signInExpired' };
  if (done.kind === 'refused') {
    if (done.passkey) await refusePasskey(deps, request, { ...done.passkey, steps });
    await recordWrong(deps, request, half, counted.tries);
    return { kind: 'wrong', isLast: counted.tries >= limits.codeTries, username };
  }
  if (done.result.kind === 'right') deps.wake.mails();
  const outcome = done.result.kind === 'right' ? 'signed-in' : 'second-factor-asked';
  deps.metrics.signIns.inc({ way: wayOfProof[done.proof], outcome });
  return done.result;
}

type Step =
  | { kind: 'taken'; proof: Proof | 'passkey'; result: Right }
  /** A wrong code, or why a passkey is refused: its challenge is taken all the same. */
  | { kind: 'refused'; passkey?: RefusedPasskey };

/**
 * Takes a right code and one step off what the half session waits for, or a passkey and all of them: after the last one it is a
 * full session. Of several attempts at once the first to lock the session wins, and nothing else is taken.
 */
async function takeStep(
  deps: Deps,
  sql: Connection,
  request: VerifyRequest,
  half: HalfSession,
  steps: AuditStep[],
): Promise<Step | RollBack<'gone'>> {
  const now = deps.now();
  const { userId, connectionId } = half;
  // Read now: the email may have been replaced while the code was under way.
  const reader = await findActiveUserForChange(sql, userId);
  const session = reader && (await findHalfSessionForUpdate(sql, tokenHash(request.sessionToken)));
  if (!session) return new RollBack('gone');
  const passkey = request.by === 'passkey' ? await takePasskeyOf(deps, sql, request, half, steps) : null;
  if (passkey?.kind === 'refused') return { kind: 'refused', passkey };
  // The session still has the token by which `half` was read, and each step gives it another: it waits for the same.
  const waitsFor = passkey ? [] : half.waitsFor.slice(1);
  const isFull = waitsFor.length === 0;
  // Since the sign-in asked for less, an app was set up: no code by email opens what it guards.
  if (!passkey && isFull && half.factor === 'email' && (await findTotp(sql, userId)) !== null)
    return new RollBack('gone');
  const prover = { ...half, sessionId: half.id, browser: request };
  const proof = passkey ? 'passkey' : await takeProof(deps, sql, prover, request.given);
  if (!proof) return { kind: 'refused' };

  const sessionToken = nextToken(deps, { token: request.sessionToken, given: request.given });
  await updateHalfSessionProven(sql, half.id, {
    tokenHash: tokenHash(sessionToken),
    waitsFor,
    passkeyId: passkey?.passkey.id ?? null,
    address: request.address,
    browser: browserName(request.userAgent) ?? null,
    endsAt: new Date(now.getTime() + (isFull ? deps.config.sessionAbsolute : limits.halfSession)),
    now,
  });
  await deleteThrottle(sql, codeKey(half));
  await deleteThrottle(sql, codeMailKey(half));
  steps.push({ step: 'second factor', outcome: proof });
  if (!isFull) {
    await insertAuditEvent(sql, { ...eventOf(half, request), event: 'second-factor-asked', steps }, now);
    return { kind: 'taken', proof, result: { kind: 'thenApp', sessionToken } };
  }

  const known = { ...(passkey && { passkey: passkey.passkey.name }), byPassword: connectionId === null, now };
  const deviceToken = await noteDevice(sql, reader, request, known);
  const rememberedToken = await rememberDevice(sql, request, half, now);
  if (rememberedToken) steps.push({ step: 'device', outcome: 'remembered' });
  await insertAuditEvent(sql, { ...eventOf(half, request), event: 'signed-in', steps }, now);
  if (proof === 'app registered')
    await queueMail(sql, reader, { kind: 'secondFactorAdded', now, ...placeOfVisitor(request) });
  const right = { sessionToken, deviceToken, rememberedToken, connectionId };
  return { kind: 'taken', proof, result: { kind: 'right', hasPage: hasPage(proof), ...right } };
}

/**
 * Takes a passkey of the user: after a password only, as a provider's sign-in goes on as its provider's, and only where it opens
 * all that the code would.
 */
async function takePasskeyOf(
  deps: Deps,
  sql: Connection,
  { given: answer, address, passkeyToken: browserToken }: VerifyRequest,
  { userId, username, connectionId, customers }: HalfSession,
  steps: AuditStep[],
) {
  const refused = (reason: 'by-provider' | 'passkeys-off') =>
    ({ kind: 'refused', reason, user: { id: userId, username, customers } }) as const;
  if (connectionId !== null) return refused('by-provider');
  if (!customers.every(({ takesPasskeys }) => takesPasskeys)) return refused('passkeys-off');
  return await takePasskey(deps, sql, { purpose: 'second-factor', browserToken, answer, address, userId }, steps);
}

/** The token of a browser that is to skip the code from now on; null if it is not, or a customer forbids it. */
async function rememberDevice(
  sql: Connection,
  { remember, userAgent, address }: VerifyRequest,
  { userId, factor, customers }: HalfSession,
  now: Date,
): Promise<string | null> {
  if (!remember || !customers.every(({ rememberDevices }) => rememberDevices)) return null;
  const token = newToken();
  await insertRememberedDevice(sql, {
    tokenHash: tokenHash(token),
    userId,
    factor,
    browser: browserName(userAgent) ?? null,
    address,
    madeAt: now,
    endsAt: new Date(now.getTime() + limits.rememberedDevice),
  });
  return token;
}

const wayOfProof = {
  app: 'app',
  'app registered': 'app',
  'email code': 'email_code',
  'email registered': 'email_code',
  'recovery code': 'recovery_code',
  passkey: 'passkey',
} as const satisfies Record<Proof | 'passkey', string>;

/** After these there is something to read before the destination: the recovery codes, or how many are left. */
function hasPage(proof: Proof | 'passkey'): boolean {
  return proof === 'app registered' || proof === 'recovery code';
}

async function recordWrong(deps: Deps, request: VerifyRequest, half: HalfSession, tries: number): Promise<void> {
  const who = eventOf(half, request);
  const way = request.by === 'passkey' ? 'passkey' : half.factor === 'app' ? 'app' : 'email_code';
  if (request.by === 'code') {
    const offset = await offsetOfCode(deps, { ...half, browser: request }, request.given);
    const steps = [
      { step: 'code', outcome: `try ${tries} of ${limits.codeTries}, ${half.factor}` },
      ...(offset === null ? [] : [{ step: 'code of another time', outcome: `off by ${offset} s` }]),
    ];
    await insertAuditEvent(deps.sql, { ...who, event: 'code-refused', steps }, deps.now());
    deps.metrics.signIns.inc({ way, outcome: 'code-refused' });
  }
  if (tries < limits.codeTries) return;
  await insertAuditEvent(deps.sql, { ...who, event: 'second-factor-ended' }, deps.now());
  deps.metrics.signIns.inc({ way, outcome: 'second-factor-ended' });
}

function eventOf({ userId, username, customers, connectionId }: HalfSession, { address, requestId }: VerifyRequest) {
  const way = connectionId === null ? {} : { connectionId };
  return { userId, username, ...customersOfEvent(customers), ...way, address, requestId };
}
