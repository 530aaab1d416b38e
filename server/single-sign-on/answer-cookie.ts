import type { TokenCookieName } from '../http/cookies.ts';

/** Enough characters of the state to distinguish the visits of one browser. */
const told = 8;

/** The cookie that shows which browser brought the answer to a visit. */
export function answerCookie(state: string): TokenCookieName {
  return `answer-${state.slice(0, told)}`;
}
