import { insertAuditEvent, insertEventOnceAMinute } from '../audit/audit-event.ts';
import { customersOfEvent } from '../audit/audit-events.ts';
import type { Connection } from '../database/database.ts';
import { RollBack } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import type { HalfSession } from '../sessions/half-session.ts';
import type { FullSession } from '../sessions/session.ts';
import type { Visitor } from '../sessions/visitor.ts';
import { countAttempt } from '../throttle/throttle.ts';
import { codeKey } from '../throttle/throttle-keys.ts';

export type VerifyRequest = Visitor & {
  sessionToken: string;
  /** Six digits or a recovery code as sent, or in their place the answer of a passkey. */
  given: string;
  by: 'code' | 'passkey';
  /** A form without script may be pressed twice; a script prevents that. */
  isForm: boolean;
  remember: boolean;
};

/** The session that a code is for: a half one, or a full one whose user sets up an app. */
export type Verified = Omit<HalfSession, 'customers' | 'codeTries'> & {
  isHalf: boolean;
  customers: { key: string; rememberDevices: boolean; takesPasskeys: boolean }[];
};

/** A full session whose user sets up an app. */
export function ownApp({ customers, ...session }: FullSession): Verified {
  const keys = customers.map((key) => ({ key, rememberDevices: false, takesPasskeys: false }));
  return { ...session, isHalf: false, factor: 'app', mustRegister: true, waitsFor: ['app'], customers: keys };
}

type CountedTry = { kind: 'counted'; tries: number } | { kind: 'usedUp' } | { kind: 'throttled'; retryAfter: number };

/**
 * Counts an attempt in its half session and for the account and its first factor, or in neither. It is committed before anything is
 * looked at, so that attempts at the same time gain nothing. `usedUp` also if the session is gone.
 */
export async function countTry(deps: Deps, request: VerifyRequest, session: Verified): Promise<CountedTry> {
  const now = deps.now();
  const { key } = codeKey(session);
  const counted = await deps.sql.begin(async (sql): Promise<CountedTry | RollBack<CountedTry>> => {
    const tries = session.isHalf ? await countCodeTry(sql, session.id, limits.codeTries) : 0;
    if (tries === null) return { kind: 'usedUp' };
    const until = await countAttempt(sql, [codeKey(session)], now);
    return until
      ? new RollBack({ kind: 'throttled', retryAfter: until.getTime() - now.getTime() })
      : { kind: 'counted', tries };
  });
  if (counted.kind !== 'throttled') return counted;
  const until = new Date(now.getTime() + counted.retryAfter).toISOString();
  const steps = [{ step: 'throttle', outcome: `wrong codes of this account: wait until ${until}` }];
  const event = { event: 'code-throttled', ...eventOf(session, request), steps } as const;
  await insertEventOnceAMinute(deps.sql, event, `throttled:${key}`, now);
  return counted;
}

/** Counts an attempt at a code in a half session, up to `most`; returns its number, or null if they are used up or it is gone. */
async function countCodeTry(sql: Connection, sessionId: string, most: number): Promise<number | null> {
  const [row] = await sql<{ tries: number }[]>`
    update session set code_tries = code_tries + 1
    where id = ${sessionId} and stage = 'half' and code_tries < ${most}
    returning code_tries as tries`;
  return row?.tries ?? null;
}

/** Records a wrong code, and the end of the half session that it was the last one of. */
export async function recordWrong(deps: Deps, request: VerifyRequest, session: Verified, tries: number): Promise<void> {
  const { by } = request;
  const { isHalf, factor } = session;
  const who = eventOf(session, request);
  const method = by === 'passkey' ? 'passkey' : factor === 'app' ? 'app' : 'email_code';
  if (by === 'code') {
    const outcome = isHalf ? `try ${tries} of ${limits.codeTries}, ${factor}` : 'of an app being set up';
    const steps = [{ step: 'code', outcome }];
    await insertAuditEvent(deps.sql, { event: 'code-refused', ...who, steps }, deps.now());
    if (isHalf) deps.metrics.signIns.inc({ method, outcome: 'code-refused' });
  }
  if (tries < limits.codeTries) return;
  await insertAuditEvent(deps.sql, { event: 'second-factor-ended', ...who }, deps.now());
  deps.metrics.signIns.inc({ method, outcome: 'second-factor-ended' });
}

/** Whose codes they are, for an event. */
export function eventOf(
  { userId, username, customers, connectionId }: Verified,
  { address, browser, requestId }: VerifyRequest,
) {
  const by = connectionId === null ? {} : { connectionId };
  return { userId, username, ...customersOfEvent(customers), ...by, address, browser, requestId };
}
