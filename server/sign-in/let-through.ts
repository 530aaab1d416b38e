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
import type { TokensOfPress } from '../two-factor/press.ts';
import { browserHash } from '../visitor/browser-hash.ts';
import { liveTokenHash } from '../visitor/live-token-hash.ts';
import { turnHash } from '../visitor/turn-hash.ts';
import { firstStep, openFactor, sendFirstCode } from './open-factor.ts';
import { type PressOfSignIn, pressOfSignIn } from './press-of-sign-in.ts';
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
  /** The same press has stored it before. */
  isSamePress: boolean;
  sessionToken: string;
  deviceToken: string;
  rememberedToken: string | null;
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
): Promise<Extract<SignInResult, { kind: 'signedIn' | 'secondFactor' }> | { kind: 'changed' | 'otherFactors' }> {
  const { user, admitting, attempt } = right;
  const asked = secondFactorOf(admitting, user.hasApp) ?? (await askedToRegister(deps, request, user));
  const press = pressOfSignIn(deps.keys, request, now);
  const unlessSignedOut = await liveTokenHash(request);
  const given = { asked, press, unlessSignedOut, now };
  const toRecall = request.rememberedToken === null ? null : asked;
  // One statement, unless there is a device to recall, which must not get its next token in vain, or there are sessions to
  // end. Who is being changed at this moment is waited for before it: a statement that waits sees what was there before.
  const isOneStatement = !toRecall && !attempt.hasManySessions;
  const atOnce = isOneStatement
    ? await store(deps, deps.sql, request, right, { ...given, rememberedToken: null })
    : null;
  const stored =
    atOnce !== null && atOnce !== 'changed'
      ? atOnce
      : await deps.sql.begin(async (sql) => {
          // The user is locked first, as by every change of a user, so that there is no deadlock.
          if (!(await isUserActiveForShare(sql, user.id))) return 'changed';
          const rememberedToken = toRecall
            ? await recallDevice({ sql, now: deps.now }, user, toRecall, admitting, request, press)
            : null;
          const stored = await store(deps, sql, request, right, { ...given, rememberedToken });
          if (typeof stored === 'string') return new RollBack(stored);
          if (!stored.isSamePress) await endOldest(sql, request, user, stored, now);
          return stored;
        });
  if (typeof stored === 'string') return { kind: stored };
  const { sessionToken, deviceToken, rememberedToken, isSamePress } = stored;
  // Not for the marks of a browser without a session cookie, so that the usual sign-in remains one statement.
  if (request.sessionToken) {
    const own = { tokenHash: tokenHash(sessionToken), unlessSignedOut, now };
    await keepNewestReplacement(deps.sql, tokenHash(request.sessionToken), own);
  }
  if (stored.waitsFor) {
    const waitsFor = await firstStep(deps.sql, stored.waitsFor, sessionToken);
    if (waitsFor.factor === 'email')
      await sendFirstCode(deps, { ...user, customers: admitting, connectionId: null }, sessionToken, request);
    return { kind: 'secondFactor', ...waitsFor, sessionToken };
  }
  const isKnown = attempt.deviceKnown && request.deviceToken !== null;
  // Of all customers, not only those that admit the address (storage/new-device-mail.ts).
  if (!isKnown && !isSamePress && user.customers.some(({ newDeviceMail }) => newDeviceMail))
    await tellOfNewDevice(deps, user, request);
  return { kind: 'signedIn', sessionToken, deviceToken, rememberedToken };
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
    rememberedToken: string | null;
    press: PressOfSignIn | null;
    unlessSignedOut: Buffer | null;
    now: Date;
  },
): Promise<Stored | 'changed' | 'otherFactors'> {
  const { asked, rememberedToken, press, unlessSignedOut, now } = given;
  const waitsFor = asked && !rememberedToken ? await openFactor(sql, user, asked) : null;
  // A half session is its press's own: it shows the secret of an app, and each one's code goes to the newest.
  const pressed = waitsFor ? null : press;
  const sessionToken = pressed?.tokens[0].session ?? newToken();
  const deviceHash = request.deviceToken ? tokenHash(request.deviceToken) : null;
  // Another user's token may have been planted by somebody who would then have a known browser, or be known to one of its users.
  const isKept = attempt.deviceKnown && !attempt.deviceShared && request.deviceToken !== null;
  const deviceToken = isKept ? (request.deviceToken as string) : (pressed?.tokens[0].device ?? newToken());
  const done = await completeSignIn(sql, {
    userId: user.id,
    verifiedHash: user.passwordHash,
    factorVersion: user.factorVersion,
    tokenHash: tokenHash(sessionToken),
    press: pressed && {
      hashes: [tokenHash(pressed.tokens[0].session), tokenHash(pressed.tokens[1].session)],
      since: pressed.since,
    },
    replacedTokenHash: turnHash(request),
    unlessSignedOut,
    deviceHash: waitsFor ? null : tokenHash(deviceToken),
    deviceHashBefore: waitsFor || isKept ? null : deviceHash,
    movesOwnDevice: attempt.deviceShared,
    stage: waitsFor ? 'half' : 'full',
    browserHash: waitsFor ? browserHash(request) : null,
    waitsFor,
    proven: rememberedToken ? 'remembered' : 'none',
    proof: rememberedToken ? 'remembered' : 'password',
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
      steps: rememberedToken ? [...steps, { step: 'second factor', outcome: 'remembered device' }] : steps,
    },
    now,
  });
  if (typeof done === 'string')
    return done === 'made' ? { isSamePress: false, sessionToken, deviceToken, rememberedToken, waitsFor } : done;
  const first = pressed?.tokens.find(({ session }) => tokenHash(session).equals(done.samePress)) as TokensOfPress;
  return {
    isSamePress: true,
    sessionToken: first.session,
    deviceToken: isKept ? deviceToken : first.device,
    rememberedToken,
    waitsFor,
  };
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
