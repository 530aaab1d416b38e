import type { AccountSection } from '#contract/account.ts';
import type { AccountNotice, AccountView } from '#contract/account-page.ts';
import type { ChangeFailedReason } from '#contract/reasons.ts';
import type { Deps } from '../deps/deps.ts';
import type { AccountVisit } from './account-visit.ts';

export type Fields = Partial<Record<string, string>>;

type Done = { kind: 'done'; notice?: AccountNotice; to?: string; sessionToken?: string; deviceToken?: string };

/** What came of an action; `retryAfter` in milliseconds. Cookies are set along with the answer. */
export type Outcome =
  | Done
  /** `reference`: of its event, if that is not the one of this request. */
  | { kind: 'refused'; notice: AccountNotice; reason?: ChangeFailedReason; reference?: string }
  | { kind: 'throttled'; retryAfter: number }
  /** The session has ended meanwhile. */
  | { kind: 'signedOut' };

export type Action = {
  /** Whether a fresh proof comes first (docs/decisions/0051). */
  needsProof: boolean;
  run: (deps: Deps, visit: AccountVisit, fields: Fields) => Promise<Outcome>;
  /**
   * Of an action that gives its session a new token (press.ts): the answer to the second press of its button, besides that
   * token.
   */
  again?: (deps: Deps, fields: Fields) => Pick<Done, 'notice' | 'to'>;
};

/** One section of the account page: what it shows, and what its forms do. */
export type Section = {
  name: AccountSection;
  /** The fields that are no secrets: they come back after a proof, or after signing in again. */
  kept: readonly string[];
  view: (deps: Deps, visit: AccountVisit, begun: string | null) => Promise<AccountView>;
  actions: Readonly<Record<string, Action>>;
};
