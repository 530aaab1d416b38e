import type { ProblemStatus } from '#contract/page.ts';
import { changeFailedReasons, loginFailTypes } from '#contract/reasons.ts';
import { queryNames, screenPaths } from '#contract/screens.ts';

/** A screen as a file: `name` is the file's, `address` what it shows, with the query that has a file of its own. */
export type StaticScreen = { name: string; address: string; problem?: ProblemStatus };

/** What a query changes so much that it has a file of its own, for visitors without JavaScript. */
const byEmail = { name: 'email', query: `${queryNames.codeSentViaEmail}=true` };
const byReason = (reason: number) => ({ name: String(reason), query: `${queryNames.reason}=${reason}` });
const variants: Record<string, { name: string; query: string }[]> = {
  twoFactor: [byEmail],
  twoFactorRegistration: [byEmail],
  forgottenChange: [changeFailedReasons.tooWeak, changeFailedReasons.userNotFound].map(byReason),
  forgottenChangeFailedInfo: Object.values(changeFailedReasons).map(byReason),
};

/** What is not an address is not found. */
export const noAddress = 'none';

/** Every screen of specification §2, and what a web server shows in place of a backend that does not answer. */
export const staticScreens: readonly StaticScreen[] = [
  ...Object.entries(screenPaths).flatMap(([name, path]) => [
    { name, address: path },
    ...(variants[name] ?? []).map((variant) => ({
      name: `${name}-${variant.name}`,
      address: `${path}?${variant.query}`,
    })),
  ]),
  ...loginFailTypes.map((type) => ({ name: `loginfail-${type}`, address: `/loginfail/${type}` })),
  { name: 'not-found', address: noAddress },
  ...([502, 504] as const).map((problem) => ({ name: `problem-${problem}`, address: noAddress, problem })),
];
