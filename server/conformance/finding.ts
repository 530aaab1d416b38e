import type { Answer } from './backend-visit.ts';
import { inWords, type Target, targetOf } from './target.ts';

export type Verdict =
  | { kind: 'passed' }
  | { kind: 'differs'; expected: string; got: string }
  /** The specification does not ask for it. */
  | { kind: 'advised'; why: string }
  | { kind: 'not tried'; why: string };

/** What came of one check. `call` is the method and path of specification §7. */
export type Finding = { call: string; what: string } & Verdict;

export const passed: Verdict = { kind: 'passed' };
export const advised = (why: string): Verdict => ({ kind: 'advised', why });
export const notTried = (why: string): Verdict => ({ kind: 'not tried', why });

/** Passed if `isKept`; otherwise it says what was expected and what came. */
export function judge(isKept: boolean, expected: string, answer: Answer, base: URL): Verdict {
  return isKept ? passed : { kind: 'differs', expected, got: inWords(answer, base) };
}

/** A redirect, by 302 or 303, to a target that `isRight`. */
export function judgeTarget(
  answer: Answer,
  base: URL,
  expected: string,
  isRight: (target: Target) => boolean,
): Verdict {
  const target = targetOf(answer, base);
  return judge(target !== null && isRight(target), `303 (or 302) to ${expected}`, answer, base);
}

/** Whether a target is the screen of this name. */
export const isScreen = (target: Target, name: string) => target.kind === 'screen' && target.screen.name === name;

/** Whether a call failed cleanly: refused with a 4xx, or led to a screen. */
export function judgeRefusal(answer: Answer, base: URL): Verdict {
  const isRefused = answer.status >= 400 && answer.status < 500;
  return judge(isRefused || targetOf(answer, base)?.kind === 'screen', '4xx, or 303 to a screen', answer, base);
}
