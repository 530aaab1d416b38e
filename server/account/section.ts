import type { AccountNotice, AccountSection, AccountView } from '#contract/account.ts';
import type { ChangeFailedReason } from '#contract/reasons.ts';
import { insertEventOnceAMinute } from '../audit/audit-event.ts';
import type { AuditEvent } from '../audit/audit-events.ts';
import { type Connection, RollBack } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { countAttempt } from '../throttle/throttle.ts';
import { changeKey, type ThrottleKey } from '../throttle/throttle-keys.ts';
import { type AccountVisit, type Person, personForChange, personOf } from './account-visit.ts';

/** One section of the account page: what it shows, and what its forms do. */
export type Section = {
  name: AccountSection;
  /** The fields that are no secrets: they come back after a proof, or after signing in again. */
  kept: readonly string[];
  view: (deps: Deps, visit: AccountVisit, begun: string | null) => Promise<AccountView>;
  actions: Readonly<Record<string, Action>>;
};

/** What a session shows and does that speaks for a part of the account only (docs/decisions/0019). */
export const sectionsOfPart: readonly Listed[] = ['sessions', 'signIns'];

/** Those that the overview lists. */
export type Listed = Exclude<AccountSection, 'overview'>;

type Action = {
  /** Whether a fresh proof comes first (`proofToAsk`). */
  needsProof: boolean;
  run: (deps: Deps, visit: AccountVisit, fields: Fields) => Promise<Outcome>;
};

export type Fields = Partial<Record<string, string>>;

/** How long to wait, in milliseconds. */
export type Throttled = { kind: 'throttled'; retryAfter: number };

/** What came of an action. Cookies are set along with the answer. */
export type Outcome =
  | { kind: 'done'; notice?: AccountNotice; to?: string; sessionToken?: string; deviceToken?: string }
  /** `reference`: of its event, if that is not the one of this request. */
  | { kind: 'refused'; notice: AccountNotice; reason?: ChangeFailedReason; reference?: string }
  | Throttled
  /** The session has ended meanwhile. */
  | { kind: 'signedOut' };

/** Makes a change in one transaction, person and session locked first, and rolls it back unless it is done. */
export async function changeAccount(
  deps: Deps,
  visit: AccountVisit,
  work: (sql: Connection, person: Person) => Promise<Outcome>,
): Promise<Outcome> {
  const outcome = await deps.sql.begin(async (sql) => {
    const person = await personForChange(sql, visit);
    const outcome: Outcome = person ? await work(sql, person) : { kind: 'signedOut' };
    return outcome.kind === 'done' ? outcome : new RollBack(outcome);
  });
  if (outcome.kind === 'done') deps.wake.mails();
  return outcome;
}

/** Counts a change that costs more than its row, such as emails or hashes, before it is made; null if it may be. */
export async function countChange(
  deps: Deps,
  visit: AccountVisit,
  what: 'password' | 'recovery-codes' | 'passkey',
): Promise<Throttled | null> {
  const refused = { event: 'account-change-refused', reason: 'throttled-changes' } as const;
  return await countBefore(deps, visit, changeKey(what, visit.session.userId), refused);
}

/** Counts what is about to be done; null if it may be. Otherwise a refusal is recorded, once a minute. */
export async function countBefore(
  deps: Deps,
  visit: AccountVisit,
  key: ThrottleKey,
  refused: Pick<AuditEvent, 'event' | 'reason'>,
): Promise<Throttled | null> {
  const now = deps.now();
  const until = await countAttempt(deps.sql, [key], now);
  if (!until) return null;
  await insertEventOnceAMinute(deps.sql, { ...refused, ...personOf(visit) }, `throttled:${key.key}`, now);
  return { kind: 'throttled', retryAfter: until.getTime() - now.getTime() };
}
