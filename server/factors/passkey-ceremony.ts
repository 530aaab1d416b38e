import type { FastifyReply, FastifyRequest } from 'fastify';
import { insertAuditEvent, insertEventOnceAMinute } from '../audit/audit-event.ts';
import { type AuditStep, customersOfEvent, type RefusalReason } from '../audit/audit-events.ts';
import { newReference } from '../audit/reference.ts';
import { newToken, tokenHash } from '../crypto/token.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { readTokenCookie, setCookie } from '../http/cookies.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { limits } from '../limits.ts';
import { type Visitor, visitorOf } from '../sessions/visitor.ts';
import { countAttempt, findWait } from '../throttle/throttle.ts';
import { keyOf, recordKey, type ThrottleKey } from '../throttle/throttle-keys.ts';
import { isKnownDevice } from './devices.ts';

/** What a ceremony is begun for; its answer counts for nothing else. */
export type Ceremony = {
  purpose: 'sign-in' | 'second-factor' | 'enrol';
  /** Of the `passkey` cookie; null if the browser shows none. */
  browserToken: string | null;
  owner?: string;
};

function ownerHashOf({ purpose, browserToken, owner = '' }: Ceremony): Buffer {
  return tokenHash(`${purpose} ${browserToken} ${owner}`);
}

/** Begins a ceremony: stores the hash of a new challenge of 256 random bits, and returns the challenge. */
export async function beginCeremony({ sql, now }: Pick<Deps, 'sql' | 'now'>, ceremony: Ceremony): Promise<string> {
  const challenge = newToken();
  const endsAt = new Date(now().getTime() + limits.passkeyChallenge);
  await sql`
    insert into passkey_challenge (challenge_hash, owner_hash, ends_at)
    values (${tokenHash(challenge)}, ${ownerHashOf(ceremony)}, ${endsAt})`;
  return challenge;
}

/** Takes the challenge that an answer is to; false for an answer to none of this ceremony, which the first answer ends. */
export async function takeChallenge(
  { now }: Pick<Deps, 'now'>,
  sql: Connection,
  ceremony: Ceremony,
  challenge: string,
  steps: AuditStep[],
): Promise<boolean> {
  const { count } = await sql`
    delete from passkey_challenge
    where challenge_hash = ${tokenHash(challenge)} and owner_hash = ${ownerHashOf(ceremony)} and ends_at > ${now()}`;
  const isTaken = ceremony.browserToken !== null && count > 0;
  const unknown = `none of this browser for ${ceremony.purpose}, or over, or answered before`;
  steps.push({ step: 'challenge', outcome: isTaken ? `taken, for ${ceremony.purpose}` : unknown });
  return isTaken;
}

/** The algorithms that are offered, in this order (RFC 9053, RFC 8812): ES256, EdDSA with Ed25519, RS256. */
export const offeredAlgorithms = [-7, -8, -257] as const;

/**
 * What a browser is told to make a passkey with (Web Authentication Level 3, §5.4): one that the authenticator keeps and finds
 * by itself, with verification of the person, without attestation, and none on a device that keeps one of the `known`.
 */
export function creationOptions(
  challenge: string,
  rp: { id: string; name: string },
  { id, username }: { id: string; username: string },
  known: readonly { credentialId: Buffer; transports: string[] }[],
) {
  return {
    challenge,
    rp,
    user: { id: userHandleOf(id), name: username, displayName: username },
    pubKeyCredParams: offeredAlgorithms.map((alg) => ({ type: 'public-key' as const, alg })),
    timeout: limits.passkeyChallenge,
    excludeCredentials: known.map(({ credentialId, transports }) => ({
      type: 'public-key' as const,
      id: credentialId.toString('base64url'),
      transports,
    })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none' as const,
  };
}

/** What authenticators know a user by: the bytes of the id, which says nothing about the person (§14.6.1). */
export function userHandleOf(userId: string): string {
  return Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url');
}

/**
 * The token of the browser that a ceremony begins in; null if it has to wait, which is then answered with 429. All tabs share it,
 * so that what one begins does not end another's; and it outlives them, so that two tabs seldom get a first one each.
 */
export async function browserToBegin(deps: Deps, reply: FastifyReply, browser: BrowserToCount): Promise<string | null> {
  const now = deps.now();
  const until = await countAttempt(deps.sql, [await passkeyKey(deps, browser, 'passkey')], now);
  if (until) {
    await refuse(deps, reply, 429, { retryAfter: until.getTime() - now.getTime() });
    return null;
  }
  const token = readTokenCookie(reply.request.headers, deps.config, 'passkey') ?? newToken();
  setCookie(reply, deps.config, 'passkey', token, limits.passkeyBrowser);
  return token;
}

/** `POST passkeys/options` and `POST passkeys/second-factor/options`: begins a sign-in, with the same answer for everybody. */
export function passkeyOptionsRoute(deps: Deps, purpose: 'sign-in' | 'second-factor') {
  const rp = deps.config.passkeys;

  return async function passkeyOptions(request: FastifyRequest, reply: FastifyReply) {
    if (!rp) return sendProblem(reply, 404);
    const visitor = visitorOf(deps, request);
    const browserToken = await browserToBegin(deps, reply, visitor);
    if (browserToken === null) return reply;
    const challenge = await beginCeremony(deps, { purpose, browserToken });
    return reply.send({ challenge, rpId: rp.id, timeout: limits.passkeyChallenge, userVerification: 'required' });
  };
}

/** Whose answer was refused, as far as it is known. */
export type RefusedUser = { id: string; username: string; customers?: readonly { key: string }[] };

/** Where from, and by which browser: what its ceremonies count under. */
type BrowserToCount = Pick<Visitor, 'address' | 'deviceToken'>;

type Refused = 'passkey-refused' | 'passkey-not-added';

/** An answer that is refused for one of these tries something; every other one was signed by a passkey, or not looked at. */
const tries: readonly RefusalReason[] = [
  'malformed',
  'challenge-unknown',
  'answer-invalid',
  'wrong-signature',
  'unknown-passkey',
  'other-user',
];

/** Records a refused answer, and counts it for its browser or address if it tries something. Returns the reference of the event. */
export async function refusePasskey(
  deps: Deps,
  visitor: BrowserToCount & Pick<Visitor, 'browser' | 'requestId'>,
  refused: { event?: Refused; reason: RefusalReason; steps: AuditStep[]; user?: RefusedUser | undefined },
): Promise<string> {
  const { sql, now, metrics } = deps;
  const { address, browser, requestId } = visitor;
  const { event = 'passkey-refused', reason, steps, user } = refused;
  const reference = newReference();
  const who = user && { userId: user.id, username: user.username, ...customersOfEvent(user.customers ?? []) };
  if (tries.includes(reason)) await countAttempt(sql, [await passkeyKey(deps, visitor, 'passkey-failure')], now());
  await insertAuditEvent(sql, { event, reason, reference, ...who, address, browser, requestId, steps }, now());
  if (event === 'passkey-refused') metrics.signIns.inc({ method: 'passkey', outcome: reason });
  return reference;
}

/** Until when answers from here are not looked at, and the event's reference; null if they are. `whose`: of a new passkey. */
export async function waitOfPasskeys(
  deps: Deps,
  visitor: BrowserToCount & Pick<Visitor, 'requestId'>,
  whose?: RefusedUser,
): Promise<{ retryAfter: number; reference: string } | null> {
  const at = deps.now();
  const { address, requestId } = visitor;
  const until = await findWait(deps.sql, [await passkeyKey(deps, visitor, 'passkey-failure')], at);
  if (until <= at) return null;
  const steps = [{ step: 'throttle', outcome: `passkeys from here: wait until ${until.toISOString()}` }];
  const event: Refused = whose ? 'passkey-not-added' : 'passkey-refused';
  const who = whose && { userId: whose.id, username: whose.username };
  const refused = { event, reason: 'throttled', ...who, address, requestId, steps } as const;
  const reference = await insertEventOnceAMinute(deps.sql, refused, recordKey(`throttled:${event}`, address), at);
  return { retryAfter: until.getTime() - at.getTime(), reference };
}

async function passkeyKey(
  { sql }: Pick<Deps, 'sql'>,
  { address, deviceToken }: BrowserToCount,
  kind: 'passkey' | 'passkey-failure',
): Promise<ThrottleKey> {
  const deviceHash = deviceToken === null ? null : tokenHash(deviceToken);
  // One in which somebody has signed in counts by itself: nobody else at its address makes it wait.
  return keyOf(kind, deviceHash && (await isKnownDevice(sql, deviceHash)) ? { deviceHash } : { address });
}
