import type { ProblemStatus } from '#contract/page.ts';
import { changeFailedReasons, loginFailTypes } from '#contract/reasons.ts';
import { queryNames, screenPaths } from '#contract/screens.ts';

/** A screen as a file: `name` is the file's, `query` what the address must have besides to show just this. */
export type StaticScreen = { name: string; path: string; query: string; problem?: ProblemStatus };

export const notFoundName = 'notFound';
export const problemName = (status: number) => `problem-${status}`;

/** What a proxy shows in place of a backend that does not answer. */
export const backendProblems = [502, 504] as const satisfies readonly ProblemStatus[];

const byEmail = { name: 'email', query: `${queryNames.codeSentViaEmail}=true` };
const byReason = (reason: number) => ({ name: String(reason), query: `${queryNames.reason}=${reason}` });

/** What the query of a screen changes so much that it is a file of its own, for visitors without JavaScript. */
export const variants: Record<string, readonly { name: string; query: string }[]> = {
  twoFactor: [byEmail],
  twoFactorRegistration: [byEmail],
  forgottenChange: [changeFailedReasons.tooWeak, changeFailedReasons.userNotFound].map(byReason),
  forgottenChangeFailedInfo: Object.values(changeFailedReasons).map(byReason),
};

/** Every screen of specification §2, and every file that shows one. */
export const staticScreens: readonly StaticScreen[] = [
  ...Object.entries(screenPaths).flatMap(([name, path]) => [
    { name, path, query: '' },
    ...(variants[name] ?? []).map((variant) => ({ name: `${name}-${variant.name}`, path, query: variant.query })),
  ]),
  ...loginFailTypes.map((type) => ({ name: `loginfail-${type}`, path: `/loginfail/${type}`, query: '' })),
  { name: notFoundName, path: '', query: '' },
  ...backendProblems.map((status) => ({ name: problemName(status), path: '', query: '', problem: status })),
];
