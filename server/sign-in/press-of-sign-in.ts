import { limits } from '../limits.ts';
import { codeDigest } from '../secrets/code-digest.ts';
import type { Keys } from '../secrets/keys.ts';
import type { TokensOfPress } from '../two-factor/press.ts';
import { browserHash } from '../visitor/browser-hash.ts';
import type { SignInRequest } from './sign-in-result.ts';

/** What a press of the sign-in button gives: its tokens, and those of a press a moment before it. */
export type PressOfSignIn = { tokens: readonly [TokensOfPress, TokensOfPress]; since: Date };

/**
 * The tokens of a press in a remembered browser, derived like a code's (two-factor/press.ts), so that the second press
 * of one button gets those of the first. Time is counted in steps as long as the time within which presses are the
 * same; a press belongs to its own step or the previous one. The marks of the last sign-in and sign-out change with
 * each, so a later sign-in never gets earlier tokens. Null for a browser that isn't remembered: each of its presses is a
 * sign-in of its own.
 */
export function pressOfSignIn({ code }: Keys, request: SignInRequest, now: Date): PressOfSignIn | null {
  if (request.rememberedToken === null) return null;
  const { username, password, address, rememberedToken, turns } = request;
  const step = Math.floor(now.getTime() / limits.sameCodePress);
  const browser = [browserHash(request).toString('hex'), rememberedToken, turns?.signedIn, turns?.signedOut];
  const tokensOf = (step: number): TokensOfPress => {
    const token = (kind: keyof TokensOfPress) =>
      codeDigest(
        [code[0] as Buffer],
        `${username}\n${password}`,
        JSON.stringify(['sign-in', kind, browser, address, step]),
      ).toString('base64url');
    return { session: token('session'), device: token('device'), remembered: token('remembered') };
  };
  return { tokens: [tokensOf(step), tokensOf(step - 1)], since: new Date(now.getTime() - limits.sameCodePress) };
}
