import { isOneTimeCode } from '#contract/one-time-code.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { tokenHash } from '../secrets/token.ts';
import { findSessionOfPress } from '../storage/code-try.ts';
import { whoHas } from '../visitor/who.ts';
import { tokensOfPress } from './press.ts';
import type { VerifyRequest, VerifyResult } from './verify-code.ts';

/**
 * The answer that the first press of this button got, for a browser that dropped it: the same session, with the same
 * tokens, as long as that session is alive and the press was moments ago (docs/decisions/0028). Null if there is none.
 */
export async function answerOfPress(
  deps: Deps,
  request: VerifyRequest,
): Promise<Extract<VerifyResult, { kind: 'right' | 'thenApp' }> | null> {
  const now = deps.now();
  const since = new Date(now.getTime() - limits.sameCodePress);
  for (const key of deps.keys.code) {
    const tokens = tokensOfPress(key, request);
    const hashes = {
      former: tokenHash(request.sessionToken),
      session: tokenHash(tokens.session),
      device: tokenHash(tokens.device),
      remembered: tokenHash(tokens.remembered),
    };
    const opened = await findSessionOfPress(deps.sql, hashes, { since, now });
    if (!opened || (await whoHas(deps, tokens.session, request.address)).kind === 'ended') continue;
    if (opened.stage === 'half') return { kind: 'thenApp', sessionToken: tokens.session };
    return {
      kind: 'right',
      hasPage: opened.showsRecoveryCodes || !isOneTimeCode(request.code),
      sessionToken: tokens.session,
      deviceToken: opened.hasNewDevice ? tokens.device : (request.deviceToken ?? tokens.device),
      rememberedToken: opened.isRemembered ? tokens.remembered : null,
      connectionId: opened.connectionId,
    };
  }
  return null;
}
