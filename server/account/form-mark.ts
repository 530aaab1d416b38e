import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Deps } from '../deps/deps.ts';
import { codeDigest, codeDigests } from '../secrets/code-digest.ts';
import type { FullSession } from '../storage/session.ts';

type Of = Pick<FullSession, 'id' | 'userId'>;

/** Of a digest, enough that nobody guesses it. */
const markBytes = 16;

/**
 * What every form of an account page carries: it names the session and the user that the page was rendered for, and opens
 * nothing. No other site can know it, and the page of somebody who was signed in here before does nothing to the next one.
 * Its last part differs from page to page, so that nobody else can send the same press (press.ts).
 */
export function formMark({ keys }: Pick<Deps, 'keys'>, { id, userId }: Of): string {
  const own = [
    codeDigest(keys.code, id, sessionPlace),
    codeDigest(keys.code, userId, userPlace),
    randomBytes(markBytes),
  ];
  return own.map(shortened).join('.');
}

/** Whose page a form was on: this session's, another one's of the same person, or somebody else's. */
export function ownerOfForm(
  { keys }: Pick<Deps, 'keys'>,
  { id, userId }: Of,
  mark: string | undefined,
): 'session' | 'user' | 'nobody' {
  const [ofSession = '', ofUser = ''] = (mark ?? '').split('.');
  if (!isOneOf(ofUser, codeDigests(keys.code, userId, userPlace))) return 'nobody';
  return isOneOf(ofSession, codeDigests(keys.code, id, sessionPlace)) ? 'session' : 'user';
}

function isOneOf(given: string, digests: readonly Buffer[]): boolean {
  return digests.map(shortened).some((own) => {
    const [one, other] = [Buffer.from(own), Buffer.from(given)];
    return one.length === other.length && timingSafeEqual(one, other);
  });
}

const sessionPlace = 'account form, session';
const userPlace = 'account form, user';

function shortened(digest: Buffer): string {
  return digest.subarray(0, markBytes).toString('base64url');
}
