import { callUrl } from '#contract/calls.ts';
import type { forOtherAccount, forOtherPage } from '#contract/sign-out-question.ts';

/** The page that asks whether to sign out, and why; what is undefined in its query is left out. */
export function signOutQuestionUrl(
  basePath: string,
  why: typeof forOtherPage | typeof forOtherAccount,
  query: Record<string, string | undefined>,
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${callUrl(basePath, 'logout')}?${new URLSearchParams({ ...why, ...Object.fromEntries(given) })}`;
}
