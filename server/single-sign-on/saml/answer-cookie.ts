import type { TokenCookieName } from '../../http/cookies.ts';

/** As many characters of the state as keep the visits of one browser apart. */
const told = 8;

/** The cookie that says which browser brought the answer to a visit. */
export function answerCookie(state: string): TokenCookieName {
  return `answer-${state.slice(0, told)}`;
}
