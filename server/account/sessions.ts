import type { Deps } from '../deps/deps.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { isUuid } from '../names/is-uuid.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { endSessions, listSessionsFor } from '../storage/session-list.ts';
import type { AccountVisit } from './account-visit.ts';
import { personForChange } from './person-for-change.ts';
import { personOf } from './person-of-event.ts';
import { placeOf } from './place-of-change.ts';
import { nextToken } from './press.ts';
import { rotateSession } from './rotate-session.ts';
import type { Fields, Outcome, Section } from './section.ts';

/** Where a person is signed in. Ending sessions only takes away, so it needs no proof. */
export const sessions: Section = {
  name: 'sessions',
  kept: [],
  view: async (deps, { sessionHash }) => {
    const now = deps.now();
    const idleSince = new Date(now.getTime() - deps.config.sessionIdle);
    const listed = await listSessionsFor(deps.sql, sessionHash, { now, idleSince });
    return {
      name: 'sessions',
      sessions: listed.map(({ sid, browser, address, signedInAt, lastSeenAt, provider, isOwn }) => ({
        sid,
        browser,
        address,
        signedInAt: signedInAt.toISOString(),
        lastSeenAt: lastSeenAt.toISOString(),
        provider,
        isThis: isOwn,
      })),
    };
  },
  actions: {
    end: { needsProof: false, run: (deps, visit, { sid = '' }: Fields) => end(deps, visit, { sid, token: null }) },
    endOthers: { needsProof: false, run: endOthers, again: () => ({ notice: 'sessionsEnded' }) },
  },
};

/** Ends all others. This session goes on under another token: a copy of its cookie, which no list shows, is elsewhere, too. */
async function endOthers(deps: Deps, visit: AccountVisit, fields: Fields): Promise<Outcome> {
  return await end(deps, visit, { sid: null, token: nextToken(deps, { visitor: visit.visitor, fields }) });
}

/**
 * Ends the session with a `sid`, or all others: null. This one goes on, under `token` if there is one; with a token it ends, too,
 * where it was not opened: a copy of the cookie would go on alone. In their browsers it counts as a sign-out. A session by a
 * connection that speaks for a part of the account ends those of that connection only.
 */
async function end(
  deps: Deps,
  visit: AccountVisit,
  { sid, token }: { sid: string | null; token: string | null },
): Promise<Outcome> {
  if (sid !== null && !isUuid(sid)) return { kind: 'refused', notice: 'notPossible' };
  const { session, sessionHash, account } = visit;
  const now = deps.now();
  const { userId } = session;
  const connectionId = account.isPart ? session.connectionId : null;
  const goesOn = await deps.sql.begin(async (sql) => {
    const reader = await personForChange(sql, visit, now);
    if (!reader) return false;
    const isKept = token === null || visit.isOwnBrowser;
    const ended = await endSessions(sql, { userId, sid, connectionId, kept: isKept ? sessionHash : null }, now);
    if (token !== null && isKept) await rotateSession(sql, visit, { token, now });
    if (ended === 0) return true;
    await queueMail(sql, reader, { kind: 'sessionsEnded', now, ...placeOf(visit) });
    const steps = [{ step: 'sessions ended', outcome: String(ended) }];
    await insertAuditEvent(sql, { event: 'own-sessions-ended', ...personOf(visit), steps }, now);
    return isKept;
  });
  if (!goesOn) return { kind: 'signedOut' };
  deps.wake.mails();
  return {
    kind: 'done',
    notice: sid === null ? 'sessionsEnded' : 'sessionEnded',
    ...(token !== null && { sessionToken: token }),
  };
}
