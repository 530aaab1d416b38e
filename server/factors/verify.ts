import { recoveryCodeOfText } from '#contract/codes.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Connection } from '../database/database.ts';
import { RollBack } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { findActiveUserForChange } from '../people/portal-user.ts';
import type { Asked } from '../people/sign-in-policy.ts';
import { findHalfSessionForUpdate, updateHalfSessionProven } from '../sessions/half-session.ts';
import { isSessionThereForUpdate, nextToken, tokenOfFirstSubmit, updateSessionToken } from '../sessions/session.ts';
import { placeOfVisitor } from '../sessions/visitor.ts';
import { type Who, whoHas } from '../sessions/who.ts';
import { deleteThrottles } from '../throttle/throttle.ts';
import { codeKey, codeMailKey } from '../throttle/throttle-keys.ts';
import { countTry, eventOf, ownApp, recordWrong, type Verified, type VerifyRequest } from './code-attempts.ts';
import { noteDevice, rememberDevice } from './devices.ts';
import { findMayChangeFactors, type MayNotChangeFactors } from './may-change-factors.ts';
import { refusePasskey } from './passkey-ceremony.ts';
import { findShownRecoveryCodes } from './recovery-codes.ts';
import { findPendingSecret } from './registration.ts';
import type { RefusedPasskey } from './take-passkey.ts';
import { type Proof, takePasskeyOf, takeProof } from './take-proof.ts';
import { findTotp } from './totp.ts';

type Right =
  | {
      kind: 'right';
      /** There is something to read before the destination: the recovery codes, or how many are left. */
      hasPage: boolean;
      sessionToken: string;
      /** Null: the browser keeps the one that it has. */
      deviceToken: string | null;
      rememberedToken: string | null;
      connectionId: string | null;
    }
  /** The code by email was right, and an app is to be registered next. */
  | { kind: 'thenApp'; sessionToken: string };

/** `retryAfter` in milliseconds. After the last attempt the sign-in form has the `username` filled in. */
export type VerifyResult =
  | Right
  | { kind: 'wrong'; isLast: boolean; username: string }
  | { kind: 'signInExpired' }
  /** The session may not set up an app, or no longer: no code is wrong for that. */
  | { kind: 'mayNotRegister'; why: MayNotChangeFactors }
  | { kind: 'tooManyTries'; username: string }
  | { kind: 'throttled'; retryAfter: number };

/**
 * Takes a code, or a passkey in its place: a half session goes on with the sign-in, a full one has the app confirmed that its user
 * sets up. A form that is sent a second time finds its token gone, and leads where the first time led.
 */
export async function verify(deps: Deps, request: VerifyRequest, who: Who): Promise<VerifyResult> {
  const result = await verifyIn(deps, request, who);
  if (result.kind !== 'signInExpired' || !request.isForm) return result;
  const { sessionToken: token, given, by, address } = request;
  const sessionToken = await tokenOfFirstSubmit(deps, { token, given });
  if (sessionToken === null) return result;
  const first = await whoHas(deps, tokenHash(sessionToken), address);
  if (first.kind === 'half') return { kind: 'thenApp', sessionToken };
  if (first.kind !== 'full') return result;
  const { id: sessionId, userId, connectionId } = first.session;
  const shown = await findShownRecoveryCodes(deps.sql, { userId, sessionId, now: deps.now() });
  const hasPage = by === 'code' && (shown !== null || recoveryCodeOfText(given) !== null);
  return { kind: 'right', hasPage, sessionToken, deviceToken: null, rememberedToken: null, connectionId };
}

async function verifyIn(deps: Deps, request: VerifyRequest, who: Who): Promise<VerifyResult> {
  if (who.kind === 'half') return await verifySession(deps, request, { ...who.half, isHalf: true });
  if (who.kind !== 'full' || request.by === 'passkey') return { kind: 'signInExpired' };
  const { id: sessionId, userId } = who.session;
  // Nothing is being set up: another tab has signed in meanwhile.
  if (!(await findPendingSecret(deps, deps.sql, { userId, sessionId, browser: request })))
    return { kind: 'signInExpired' };
  return await verifySession(deps, request, ownApp(who.session));
}

async function verifySession(deps: Deps, request: VerifyRequest, session: Verified): Promise<VerifyResult> {
  const { username, isHalf } = session;
  const counted = await countTry(deps, request, session);
  if (counted.kind === 'usedUp')
    return (await whoHas(deps, tokenHash(request.sessionToken), request.address)).kind === 'half'
      ? { kind: 'tooManyTries', username }
      : { kind: 'signInExpired' };
  if (counted.kind === 'throttled') return counted;
  const steps: AuditStep[] = [];
  const done = await deps.sql.begin((sql) => takeStep(deps, sql, { request, session, steps }));
  if (done === 'gone') return { kind: 'signInExpired' };
  if (done.kind === 'mayNotRegister') return done;
  if (done.kind === 'refused') {
    if (done.passkey) await refusePasskey(deps, request, { ...done.passkey, steps });
    await recordWrong(deps, request, session, counted.tries);
    return { kind: 'wrong', isLast: counted.tries >= limits.codeTries, username };
  }
  if (done.result.kind === 'right') deps.wake.mails();
  const outcome = done.result.kind === 'right' ? 'signed-in' : 'second-factor-asked';
  if (isHalf) deps.metrics.signIns.inc({ method: methodOfProof[done.proof], outcome });
  return done.result;
}

type Attempt = { request: VerifyRequest; session: Verified; steps: AuditStep[] };

type Given = {
  kind: 'given';
  proof: Proof | 'passkey';
  passkey: { id: string; name: string } | null;
  waitsFor: Asked[];
};
type NotGiven =
  /** A wrong code, or why a passkey is refused: its challenge is taken all the same. */
  { kind: 'refused'; passkey?: RefusedPasskey } | Extract<VerifyResult, { kind: 'mayNotRegister' }>;
type Step = { kind: 'taken'; proof: Given['proof']; result: Right } | NotGiven;

/**
 * Takes a right code and one step off what the half session waits for, or a passkey and all of them: after the last one it is a
 * full session. Of several attempts at once the first to lock the session wins, and nothing else is taken.
 */
async function takeStep(deps: Deps, sql: Connection, attempt: Attempt): Promise<Step | RollBack<'gone'>> {
  const { request, session, steps } = attempt;
  const before = tokenHash(request.sessionToken);
  // Read now: the email may have been replaced while the code was under way.
  const user = await findActiveUserForChange(sql, session.userId);
  const isThere = await (session.isHalf ? findHalfSessionForUpdate : isSessionThereForUpdate)(sql, before);
  if (!user || !isThere) return new RollBack('gone');
  const given = await takeGiven(deps, sql, attempt);
  if (given instanceof RollBack || given.kind !== 'given') return given;
  const { proof, waitsFor } = given;
  const now = deps.now();
  const sessionToken = await rotate(deps, sql, attempt, given);
  await deleteThrottles(sql, [codeKey(session), codeMailKey(session)]);
  if (proof === 'app registered')
    await queueMail(sql, user, { kind: 'secondFactorAdded', now, ...placeOfVisitor(request) });
  steps.push({ step: 'second factor', outcome: proof });
  const who = eventOf(session, request);
  if (waitsFor.length > 0) {
    await insertAuditEvent(sql, { event: 'second-factor-asked', ...who, steps }, now);
    return { kind: 'taken', proof, result: { kind: 'thenApp', sessionToken } };
  }
  const { connectionId, isHalf } = session;
  const known = { ...(given.passkey && { passkey: given.passkey.name }), byPassword: connectionId === null, now };
  const deviceToken = isHalf ? await noteDevice(sql, user, request, known) : null;
  const rememberedToken = await rememberDevice(sql, request, session, now);
  if (rememberedToken) steps.push({ step: 'device', outcome: 'remembered' });
  const event = isHalf ? ({ event: 'signed-in', steps } as const) : ({ event: 'two-factor-registered' } as const);
  await insertAuditEvent(sql, { ...event, ...who }, now);
  const hasPage = proof === 'app registered' || proof === 'recovery code';
  const right = { sessionToken, deviceToken, rememberedToken, connectionId };
  return { kind: 'taken', proof, result: { kind: 'right', hasPage, ...right } };
}

/** Takes the code or passkey itself. `gone`: a sign-in would ask for more by now. */
async function takeGiven(
  deps: Deps,
  sql: Connection,
  { request, session, steps }: Attempt,
): Promise<Given | NotGiven | RollBack<'gone'>> {
  if (request.by === 'passkey') {
    const taken = await takePasskeyOf(deps, sql, request, session, steps);
    if (taken.kind === 'refused') return { kind: 'refused', passkey: taken };
    return { kind: 'given', proof: 'passkey', passkey: taken.passkey, waitsFor: [] };
  }
  const { id: sessionId, userId, factor, mustRegister } = session;
  // Each step gives the session another token: under this one it waits for what was read before the lock.
  const waitsFor = session.waitsFor.slice(1);
  // Since the sign-in asked for less, an app was set up: no code by email opens what it guards.
  if (waitsFor.length === 0 && factor === 'email' && (await findTotp(sql, userId)) !== null)
    return new RollBack('gone');
  if (factor === 'app' && mustRegister) {
    // What is asked of the account may have changed since the secret was shown.
    const may = await findMayChangeFactors(deps, sql, sessionId);
    if (may !== 'may') return { kind: 'mayNotRegister', why: may };
  }
  const proof = await takeProof(deps, sql, { ...session, sessionId, browser: request }, request.given);
  return proof ? { kind: 'given', proof, passkey: null, waitsFor } : { kind: 'refused' };
}

async function rotate(deps: Deps, sql: Connection, { request, session }: Attempt, given: Given): Promise<string> {
  const { sessionToken: token, address, browser } = request;
  const { waitsFor, passkey } = given;
  const now = deps.now();
  const sessionToken = nextToken(deps, { token, given: request.given });
  const after = tokenHash(sessionToken);
  if (session.isHalf)
    await updateHalfSessionProven(sql, session.id, {
      tokenHash: after,
      waitsFor,
      passkeyId: passkey?.id ?? null,
      address,
      browser,
      endsAt: new Date(now.getTime() + (waitsFor.length === 0 ? deps.config.sessionAbsolute : limits.halfSession)),
      now,
    });
  else await updateSessionToken(sql, { before: tokenHash(token), after, proof: 'code', now });
  return sessionToken;
}

const methodOfProof = {
  app: 'app',
  'app registered': 'app',
  'email code': 'email_code',
  'email registered': 'email_code',
  'recovery code': 'recovery_code',
  passkey: 'passkey',
} as const satisfies Record<Proof | 'passkey', string>;
