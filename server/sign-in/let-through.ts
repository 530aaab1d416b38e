import type { AuditStep } from '../audit/audit-events.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import { completeSignIn, type SignInAttempt, type SignInCustomer, type SignInUser } from '../storage/sign-in.ts';
import { accountKey, deviceKey } from '../throttle/throttle-keys.ts';
import { browserHash } from './browser-hash.ts';
import { browserName } from './browser-name.ts';
import { openFactor, sendFirstCode } from './open-factor.ts';
import { recallDevice } from './recall-device.ts';
import { secondFactorOf } from './second-factor.ts';
import type { SignInRequest, SignInResult } from './sign-in-result.ts';

/** A user whose password was right. */
export type RightUser = SignInUser & { passwordHash: string };

/**
 * Creates the session for a right password, full or half, unless the user has changed since they were read. Even then a
 * remembered device may have got its next token.
 */
export async function letThrough(
  deps: Deps,
  request: SignInRequest,
  {
    user,
    admitting,
    attempt,
    steps,
  }: { user: RightUser; admitting: SignInCustomer[]; attempt: SignInAttempt; steps: AuditStep[] },
  now: Date,
): Promise<
  | Extract<SignInResult, { kind: 'signedIn' | 'secondFactor' }>
  | { kind: 'changed' | 'otherFactors'; rememberedToken: string | null }
> {
  const asked = secondFactorOf(admitting, user.hasApp);
  const rememberedToken = asked && (await recallDevice(deps, user.id, asked, admitting, request));
  const waitsFor = asked && !rememberedToken ? await openFactor(deps.sql, user, asked) : null;
  const sessionToken = newToken();
  const deviceHash = request.deviceToken ? tokenHash(request.deviceToken) : null;
  // Another user's token may have been planted; whoever planted it would then have a known browser.
  const isKnown = attempt.deviceKnown && request.deviceToken !== null;
  const deviceToken = isKnown ? (request.deviceToken as string) : newToken();
  const done = await completeSignIn(deps.sql, {
    userId: user.id,
    verifiedHash: user.passwordHash,
    factorVersion: user.factorVersion,
    tokenHash: tokenHash(sessionToken),
    replacedTokenHash: request.sessionToken ? tokenHash(request.sessionToken) : null,
    deviceHash: waitsFor ? null : tokenHash(deviceToken),
    deviceHashBefore: waitsFor || isKnown ? null : deviceHash,
    stage: waitsFor ? 'half' : 'full',
    browserHash: waitsFor ? browserHash(request) : null,
    waitsFor,
    customerIds: admitting.map(({ id }) => id),
    address: request.address,
    endsAt: new Date(now.getTime() + (waitsFor ? limits.halfSession : deps.config.sessionAbsolute)),
    forgive: [accountKey(user.id), ...(deviceHash ? [deviceKey(deviceHash, user.id)] : [])],
    event: {
      event: waitsFor ? 'second-factor-asked' : 'signed-in',
      username: user.username,
      address: request.address,
      requestId: request.requestId,
      steps: rememberedToken ? [...steps, { step: 'second factor', outcome: 'remembered device' }] : steps,
    },
    now,
  });
  if (done !== 'made') return { kind: done, rememberedToken };
  if (waitsFor) {
    if (waitsFor.factor === 'email') await sendFirstCode(deps, { ...user, connectionId: null }, sessionToken, request);
    return { kind: 'secondFactor', ...waitsFor, sessionToken };
  }
  if (!isKnown && admitting.some(({ newDeviceMail }) => newDeviceMail)) await tellOfNewDevice(deps, user, request);
  return { kind: 'signedIn', sessionToken, deviceToken, rememberedToken };
}

async function tellOfNewDevice(
  deps: Deps,
  user: SignInUser,
  { address, language, userAgent }: SignInRequest,
): Promise<void> {
  const browser = browserName(userAgent);
  await queueMail(deps.sql, user, {
    kind: 'newDevice',
    now: deps.now(),
    address,
    language,
    ...(browser && { browser }),
  });
  deps.wake.mails();
}
