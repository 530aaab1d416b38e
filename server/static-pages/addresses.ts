import { calls } from '#contract/calls.ts';
import { loginFailTypes } from '#contract/reasons.ts';
import { hubStartPath, legacyPaths, screenPaths } from '#contract/screens.ts';
import { notFoundName, variants } from './static-screens.ts';

// Which file answers which address, in the regular expressions that nginx and Caddy share.

/** A pattern and what it stands for; `$1` is its first group. */
export type Rule = { pattern: string; result: string };

const names = Object.keys(screenPaths).filter((name) => name !== 'login');
const types = loginFailTypes.filter((type) => type !== 'default');

/** The screen of a path; none of them: `notFound`. Case matters, one trailing slash does not (decisions §2). */
export function screenRules(basePath: string): Rule[] {
  return [
    { pattern: `^${basePath}/(?:login/?)?$`, result: 'login' },
    { pattern: `^${basePath}/(${names.join('|')})/?$`, result: '$1' },
    { pattern: `^${basePath}/loginfail/(${types.join('|')})/?$`, result: 'loginfail-$1' },
    { pattern: `^${basePath}/loginfail/[^/]+/?$`, result: 'loginfail-default' },
  ];
}
export const screenOtherwise = notFoundName;

/** What a screen's name gets behind it for a query, given as `name query`; otherwise nothing. */
export function variantRules(): Rule[] {
  const byParameter = Object.entries(variants).flatMap(([screen, list]) =>
    list.map(({ name, query }) => ({ pattern: `^${screen} (?:.*&)?${query}(?:&|$)`, result: `-${name}` })),
  );
  // A reason may be a number right after the question mark (specification §2).
  const byNumber = ['forgottenChange', 'forgottenChangeFailedInfo'].map((screen) => ({
    pattern: `^${screen} (${variants[screen]?.map(({ name }) => name).join('|')})=?(?:&|$)`,
    result: '-$1',
  }));
  return [...byParameter, ...byNumber];
}

/**
 * Addresses below the base path that lead to another. The base path itself stands for the hub's start page: after a
 * sign-in the pages go there, with the fragment that was asked for (decisions §4).
 */
export const redirects: readonly (readonly [string, string])[] = [['', hubStartPath], ...Object.entries(legacyPaths)];

/** What only a backend answers: the calls, and the hub's start page. */
export function backendPattern(basePath: string): string {
  const called = [calls.performLogin, calls.logout].map(({ path }) => path.slice(1));
  const exact = [...called, hubStartPath.slice(1).replace('.', '\\.')];
  const folders = ['authenticate', 'password', 'two-factor-authentication'];
  return `^${basePath}/(?:(?:${exact.join('|')})$|(?:${folders.join('|')})/)`;
}
