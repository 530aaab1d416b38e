import { type AuditStep, customersOfEvent } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { placeOfVisitor, queueMail } from '../mail/queue-mail.ts';
import { browserName } from '../names/browser-name.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import type { Connection } from '../storage/database.ts';
import { RollBack } from '../storage/database.ts';
import { isEmailFactorConfirmed } from '../storage/email-code.ts';
import { endOldestSessions } from '../storage/oldest-sessions.ts';
import { isUserActiveForShare } from '../storage/portal-user.ts';
import { keepNewestReplacement } from '../storage/replaced-session.ts';
import type { OpenFactor, SecondFactor } from '../storage/second-factor.ts';
import { completeSignIn, type SignInAttempt, type SignInCustomer, type SignInUser } from '../storage/sign-in.ts';
import { accountKey, deviceKey } from '../storage/throttle-keys.ts';
import { browserHash } from '../visitor/browser-hash.ts';
import { liveTokenHash } from '../visitor/live-token-hash.ts';
import { turnHash } from '../visitor/turn-hash.ts';
import { firstStep, openFactor, sendFirstCode } from './open-factor.ts';
import { recallDevice } from './recall-device.ts';
import { secondFactorOf } from './second-factor.ts';
import type { SignInRequest, SignInResult } from './sign-in-result.ts';

/** A user whose password was right. */
export type RightUser = SignInUser & { passwordHash: string };

type Right = {
  user: RightUser;
  admitting: SignInCustomer[];
  attempt: SignInAttempt;
  steps: AuditStep[];
};

type Stored = {
  sessionToken: string;
  deviceToken: string;
  isRemembered: boolean;
  waitsFor: OpenFactor | null;
};

/**
 * Creates the session for a right password, full or half; nothing at all if the user has changed since they were read, or
 * if the browser has signed out since the request began.
 */
export async function letThrough(
  deps: Deps,
  request: SignInRequest,
  right: Right,
  now: Date,
): Promise<
  | (Extract<SignInResult, { kind: 'signedIn' | 'secondFactor' }> & { isRemembered: boolean })
  | { kind: 'changed' | 'otherFactors' }
> {
  const { user, admitting, attempt } = right;
  const asked = secondFactorOf(admitting, user.hasApp) ?? (await askedToRegister(deps, request, user));
  const unlessSignedOut = await liveTokenHash(request);
  const given = { asked, unlessSignedOut, now };
  const toRecall = request.rememberedToken === null ? null : asked;
  // One statement, unless there is a device to recall, or there are sessions to end. Who is being changed at this moment is waited for before it: a statement that waits sees what was there before.
  const isOneStatement = !toRecall && !attempt.hasManySessions;
  const atOnce = isOneStatement ? await store(deps, deps.sql, request, right, { ...given, isRemembered: false }) : null;
  const stored =
    atOnce !== null && atOnce !== 'changed'
      ? atOnce
      : await deps.sql.begin(async (sql) => {
          // The user is locked first, as by every change of a user, so that there is no deadlock.
          if (!(await isUserActiveForShare(sql, user.id))) return 'changed';
          const isRemembered =
            toRecall !== null && (await recallDevice(sql, user.id, toRecall, admitting, request, now));
          const stored = await store(deps, sql, request, right, { ...given, isRemembered });
          if (typeof stored === 'string') return new RollBack(stored);
          await endOldest(sql, request, user, stored, now);
          return stored;
        });
  if (typeof stored === 'string') return { kind: stored };
  const { sessionToken, deviceToken, isRemembered } = stored;
  // Not for the marks of a browser without a session cookie, so that the usual sign-in remains one statement.
  if (request.sessionToken) {
    const own = { tokenHash: tokenHash(sessionToken), unlessSignedOut, now };
    await keepNewestReplacement(deps.sql, tokenHash(request.sessionToken), own);
  }
  if (stored.waitsFor) {
    const waitsFor = await firstStep(deps.sql, stored.waitsFor, sessionToken);
    if (waitsFor.factor === 'email')
      await sendFirstCode(deps, { ...user, customers: admitting, connectionId: null }, sessionToken, request);
    return { kind: 'secondFactor', ...waitsFor, sessionToken, isRemembered };
  }
  const isKnown = attempt.deviceKnown && request.deviceToken !== null;
  // Of all customers, not only those that admit the address (storage/new-device-mail.ts).
  if (!isKnown && user.customers.some(({ newDeviceMail }) => newDeviceMail)) await tellOfNewDevice(deps, user, request);
  return { kind: 'signedIn', sessionToken, deviceToken, isRemembered };
}

/** A code by email that no customer requires now, but that the user can prove before they set up an app. */
async function askedToRegister(
  { sql }: Deps,
  { isToRegister }: SignInRequest,
  { id }: RightUser,
): Promise<'email' | null> {
  return isToRegister && (await isEmailFactorConfirmed(sql, id)) ? 'email' : null;
}

async function store(
  deps: Deps,
  sql: Connection,
  request: SignInRequest,
  { user, admitting, attempt, steps }: Right,
  given: {
    asked: SecondFactor | null;
    isRemembered: boolean;
    unlessSignedOut: Buffer | null;
    now: Date;
  },
): Promise<Stored | 'changed' | 'otherFactors'> {
  const { asked, isRemembered, unlessSignedOut, now } = given;
  const waitsFor = asked && !isRemembered ? await openFactor(sql, user, asked) : null;
  const sessionToken = newToken();
  const deviceHash = request.deviceToken ? tokenHash(request.deviceToken) : null;
  // Another user's token may have been planted by somebody who would then have a known browser, or be known to one of its users.
  const deviceToken = attempt.deviceKnown && request.deviceToken !== null ? request.deviceToken : newToken();
  const done = await completeSignIn(sql, {
    userId: user.id,
    verifiedHash: user.passwordHash,
    factorVersion: user.factorVersion,
    tokenHash: tokenHash(sessionToken),
    replacedTokenHash: turnHash(request),
    unlessSignedOut,
    deviceHash: waitsFor ? null : tokenHash(deviceToken),
    stage: waitsFor ? 'half' : 'full',
    browserHash: waitsFor ? browserHash(request) : null,
    waitsFor,
    proven: isRemembered ? 'remembered' : 'none',
    proof: isRemembered ? 'remembered' : 'password',
    customerIds: admitting.map(({ id }) => id),
    address: request.address,
    browser: browserName(request.userAgent) ?? null,
    endsAt: new Date(now.getTime() + (waitsFor ? limits.halfSession : deps.config.sessionAbsolute)),
    idleSince: new Date(now.getTime() - deps.config.sessionIdle),
    forgive: [accountKey(user.id), ...(deviceHash ? [deviceKey(deviceHash, user.id)] : [])],
    event: {
      event: waitsFor ? 'second-factor-asked' : 'signed-in',
      username: user.username,
      ...customersOfEvent(admitting),
      address: request.address,
      requestId: request.requestId,
      steps: isRemembered ? [...steps, { step: 'second factor', outcome: 'remembered device' }] : steps,
    },
    now,
  });
  return done === 'made' ? { sessionToken, deviceToken, isRemembered, waitsFor } : done;
}

async function endOldest(
  sql: Connection,
  { address, requestId }: SignInRequest,
  { id: userId }: RightUser,
  { sessionToken, waitsFor }: Stored,
  now: Date,
): Promise<void> {
  const stage = waitsFor ? 'half' : 'full';
  const made = {
    tokenHash: tokenHash(sessionToken),
    userId,
    connectionId: null,
    stage,
    address,
    requestId,
    now,
  } as const;
  await endOldestSessions(sql, made);
}

async function tellOfNewDevice(deps: Deps, user: SignInUser, request: SignInRequest): Promise<void> {
  await queueMail(deps.sql, user, { kind: 'newDevice', now: deps.now(), ...placeOfVisitor(request) });
  deps.wake.mails();
}
