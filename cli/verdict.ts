import { reasonOfSearch } from '#contract/reasons.ts';
import { queryNames, type Screen, screenOfPath } from '#contract/screens.ts';
import type { Answer } from './backend-visit.ts';

export type Verdict =
  | { kind: 'passed' }
  | { kind: 'differs'; expected: string; got: string }
  /** The specification does not ask for it. */
  | { kind: 'advised'; why: string }
  | { kind: 'not tried'; why: string };

/** Where an answer leads: a screen with its query, another address of the backend, or another origin. */
export type Target = { screen: Screen; query: URLSearchParams } | { screen: null; isElsewhere: boolean };

/** Null if it is no redirect by 302 or 303: a browser repeats a form post at others. */
export function targetOf({ status, location }: Answer, base: URL): Target | null {
  if (![302, 303].includes(status) || !location) return null;
  if (location.origin !== base.origin) return { screen: null, isElsewhere: true };
  const { pathname, search, hash } = location;
  if (pathname !== base.pathname && !pathname.startsWith(`${base.pathname}/`))
    return { screen: null, isElsewhere: false };
  // A screen may be named by its path or by its hash (specification §2).
  const [hashPath = '', hashQuery] = hash.slice(1).split('?');
  const named = hashPath.startsWith('/') ? screenOfPath(hashPath) : null;
  if (named && named.name !== 'notFound') return { screen: named, query: new URLSearchParams(hashQuery ?? search) };
  const screen = screenOfPath(pathname.slice(base.pathname.length));
  if (screen.name === 'notFound') return { screen: null, isElsewhere: false };
  return { screen, query: new URLSearchParams(search) };
}

/** Passed if `isKept`; otherwise it says what was expected and what came. */
export function judge(answer: Answer, base: URL, expected: string, isKept: boolean): Verdict {
  return isKept ? { kind: 'passed' } : { kind: 'differs', expected, got: inWords(answer, base) };
}

/** Passed if it is a redirect to a target that `isRight`. */
export function judgeTarget(
  answer: Answer,
  base: URL,
  expected: string,
  isRight: (target: Target) => boolean,
): Verdict {
  const target = targetOf(answer, base);
  return judge(answer, base, `303 (or 302) to ${expected}`, target !== null && isRight(target));
}

/** An answer in words, without anything that it may repeat of what it was sent. */
export function inWords(answer: Answer, base: URL): string {
  const { status, location, json } = answer;
  const target = targetOf(answer, base);
  if (!target) {
    if (location) return `${status} with a Location`;
    return `${status}${json === undefined ? '' : typeof json === 'boolean' ? ` ${json}` : ' with JSON'}`;
  }
  const { screen } = target;
  if (!screen) return `${status} to ${target.isElsewhere ? 'another origin' : 'an address that is no screen'}`;
  const name = screen.name === 'loginFail' ? `loginfail/${screen.type}` : screen.name;
  const reason = reasonOfSearch(`?${target.query}`);
  const isEmail = target.query.get(queryNames.codeSentViaEmail) === 'true';
  return `${status} to ${name}${reason === null ? '' : `?reason=${reason}`}${isEmail ? `?${queryNames.codeSentViaEmail}=true` : ''}`;
}
