import type { Deps } from '../deps/deps.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { isUuid } from '../names/is-uuid.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { endSessions, listSessionsFor } from '../storage/session-list.ts';
import { type AccountVisit, personForChange, personOf, placeOf } from './account-visit.ts';
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
    end: { needsProof: false, run: (deps, visit, { sid = '' }: Fields) => end(deps, visit, sid) },
    endOthers: { needsProof: false, run: (deps, visit) => end(deps, visit, null) },
  },
};

/**
 * Ends the session with a `sid`, or all others: null. In their browsers it counts as a sign-out. A session by a connection that
 * speaks for a part of the account ends those of that connection only.
 */
async function end(deps: Deps, visit: AccountVisit, sid: string | null): Promise<Outcome> {
  if (sid !== null && !isUuid(sid)) return { kind: 'refused', notice: 'notPossible' };
  const { session, sessionHash, account } = visit;
  const now = deps.now();
  const { userId } = session;
  const connectionId = account.isPart ? session.connectionId : null;
  const isThere = await deps.sql.begin(async (sql) => {
    const reader = await personForChange(sql, visit);
    if (!reader) return false;
    const ended = await endSessions(sql, { userId, sid, connectionId, kept: sessionHash }, now);
    if (ended === 0) return true;
    await queueMail(sql, reader, { kind: 'sessionsEnded', now, ...placeOf(visit) });
    const steps = [{ step: 'sessions ended', outcome: String(ended) }];
    await insertAuditEvent(sql, { event: 'own-sessions-ended', ...personOf(visit), steps }, now);
    return true;
  });
  if (!isThere) return { kind: 'signedOut' };
  deps.wake.mails();
  return { kind: 'done', notice: sid === null ? 'sessionsEnded' : 'sessionEnded' };
}
