import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditStep } from '../audit/audit-events.ts';
import type { Config } from '../config/config.ts';
import type { Deps } from '../deps/deps.ts';
import { readTokenCookie, setCookie } from '../http/cookies.ts';
import { refuse } from '../http/refuse.ts';
import { limits } from '../limits.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import {
  insertPasskeyChallenge,
  type PasskeyChallenge,
  type PasskeyPurpose,
  takePasskeyChallenge,
} from '../storage/passkey-challenge.ts';
import { countAttempt } from '../storage/throttle.ts';
import { userHandleOf } from './check-assertion.ts';
import { offeredAlgorithms } from './check-enrolment.ts';
import type { ClientData } from './read-answer.ts';
import { type BrowserToCount, keysOfBegun } from './refuse-passkey.ts';

/**
 * Begins a ceremony: stores the hash of a new challenge of 256 random bits, bound to the browser's token, and returns the
 * challenge.
 */
export async function beginCeremony(
  { sql, now }: Pick<Deps, 'sql' | 'now'>,
  browserToken: string,
  ceremony: PasskeyChallenge,
): Promise<string> {
  const challenge = newToken();
  const endsAt = new Date(now().getTime() + limits.passkeyChallenge);
  const hashes = { challengeHash: tokenHash(challenge), browserHash: tokenHash(browserToken) };
  await insertPasskeyChallenge(sql, { ...ceremony, ...hashes, endsAt });
  return challenge;
}

/** What every browser is told to sign in with: the same for everybody, but for the challenge. */
export function optionsOfSignIn(challenge: string, rpId: string) {
  return { challenge, rpId, timeout: limits.passkeyChallenge, userVerification: 'required' as const };
}

type Known = { credentialId: Buffer; transports: string[] };

/**
 * What a browser is told to make a passkey with (Web Authentication Level 3, §5.4): one that the authenticator keeps and finds
 * by itself, with verification of the person, without attestation, and none on a device that keeps one of the `known`.
 */
export function creationOptions(
  challenge: string,
  rp: { id: string; name: string },
  { id, username }: { id: string; username: string },
  known: readonly Known[],
) {
  return {
    challenge,
    rp,
    user: { id: userHandleOf(id).toString('base64url'), name: username, displayName: username },
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

/** The token of the browser that a ceremony begins in; null if it has to wait, which is then answered with 429. */
export async function browserToBegin(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  browser: BrowserToCount,
): Promise<string | null> {
  const now = deps.now();
  const until = await countAttempt(deps.sql, await keysOfBegun(deps, browser), now);
  if (until === null) return keepPasskeyBrowserToken(request, reply, deps.config);
  await refuse(deps, request, reply, 429, { retryAfter: until.getTime() - now.getTime() });
  return null;
}

/**
 * The token that binds ceremonies to the browser, for a new one. All tabs share it, so that what one tab begins does not end
 * another's; and it outlives them, so that two tabs seldom get a first one each, of which the later answer's stays.
 */
function keepPasskeyBrowserToken(request: FastifyRequest, reply: FastifyReply, config: Config): string {
  const token = readTokenCookie(request.headers, config, 'passkey') ?? newToken();
  setCookie(reply, config, 'passkey', token, limits.passkeyBrowser);
  return token;
}

/** The ceremony that an answer belongs to; null for an answer to none, or to one for something else. `steps` say why. */
export async function takeCeremony(
  { sql, now }: Pick<Deps, 'sql' | 'now'>,
  { challenge }: ClientData,
  given: { browserToken: string | null; purpose: PasskeyPurpose },
  steps: AuditStep[],
): Promise<PasskeyChallenge | null> {
  const { browserToken, purpose } = given;
  const refused = (outcome: string) => {
    steps.push({ step: 'challenge', outcome });
    return null;
  };
  if (browserToken === null) return refused('the browser shows no cookie of a ceremony');
  const hashes = { challengeHash: tokenHash(challenge), browserHash: tokenHash(browserToken) };
  const taken = await takePasskeyChallenge(sql, { ...hashes, now: now() });
  if (!taken) return refused('not one of this browser, or answered before');
  if (taken.isOver) return refused('expired');
  if (taken.purpose !== purpose) return refused(`begun for ${taken.purpose}, answered for ${purpose}`);
  steps.push({ step: 'challenge', outcome: `taken, for ${purpose}` });
  return taken;
}
