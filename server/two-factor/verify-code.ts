import { recoveryCodeOfText } from '#contract/recovery-code.ts';
import type { Deps } from '../deps/deps.ts';
import { tokenHash } from '../secrets/token.ts';
import { tokenOfFirstPress } from '../session/next-token.ts';
import { findShownRecoveryCodes } from '../storage/recovery-code.ts';
import { type Who, whoHas } from '../visitor/who.ts';
import { confirmOwnApp } from './confirm-own-app.ts';
import { verifyHalf } from './verify-half.ts';
import type { Right, VerifyRequest, VerifyResult } from './verify-result.ts';

/**
 * Checks a code, or a passkey in its place: in a half session it goes on with the sign-in, in a full one a code confirms the app
 * that its user is setting up. The second press of a form finds its token gone, and leads where the first one led.
 */
export async function verifyCode(deps: Deps, request: VerifyRequest, who: Who): Promise<VerifyResult> {
  const result =
    who.kind === 'half'
      ? await verifyHalf(deps, request, who.half)
      : who.kind === 'full' && request.by === 'code'
        ? await confirmOwnApp(deps, request, who.session)
        : ({ kind: 'signInExpired' } as const);
  if (result.kind !== 'signInExpired' || !request.isForm) return result;
  return (await answerOfFirstPress(deps, request)) ?? result;
}

async function answerOfFirstPress(deps: Deps, request: VerifyRequest): Promise<Right | null> {
  const { sessionToken: token, given, by, address } = request;
  const sessionToken = await tokenOfFirstPress(deps, { token, given });
  const who = sessionToken && (await whoHas(deps, tokenHash(sessionToken), address));
  if (!who) return null;
  if (who.kind === 'half') return { kind: 'thenApp', sessionToken };
  if (who.kind !== 'full') return null;
  const { id: sessionId, userId, connectionId } = who.session;
  const shown = await findShownRecoveryCodes(deps.sql, { userId, sessionId, now: deps.now() });
  const hasPage = by === 'code' && (shown !== null || recoveryCodeOfText(given) !== null);
  return { kind: 'right', hasPage, sessionToken, deviceToken: null, rememberedToken: null, connectionId };
}
