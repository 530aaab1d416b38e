import type { AccountSession } from '#contract/account-page.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { isUuid } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { endSessionsOfUser, listSessionsOfUser } from '../sessions/end-sessions.ts';
import { type AccountVisit, personOf, placeOf } from './account-visit.ts';
import { changeAccount, type Fields, type Outcome, type Section } from './section.ts';

/** Where a person is signed in. Ending sessions only takes away, so it needs no proof. */
export const sessions: Section = {
  name: 'sessions',
  kept: [],
  view: async (deps, visit) => ({
    name: 'sessions',
    sessions: (await listSessions(deps, visit)).map(
      ({ id, browser, address, signedInAt, lastSeenAt, provider }): AccountSession => ({
        id,
        browser,
        address,
        signedInAt: signedInAt.toISOString(),
        lastSeenAt: lastSeenAt.toISOString(),
        provider,
        isThis: id === visit.session.id,
      }),
    ),
  }),
  actions: {
    end: { needsProof: false, run: (deps, visit, { id = '' }: Fields) => end(deps, visit, id) },
    endOthers: { needsProof: false, run: (deps, visit) => end(deps, visit, null) },
  },
};

/** The sessions that this one sees, its own first. */
export async function listSessions({ sql, config, now }: Deps, { session, account }: AccountVisit) {
  const whose = { userId: session.userId, connectionId: connectionSeen(session, account) };
  const idleSince = new Date(now().getTime() - config.sessionIdle);
  const listed = await listSessionsOfUser(sql, whose, { now: now(), idleSince });
  return listed.sort((one, other) => Number(other.id === session.id) - Number(one.id === session.id));
}

/** A session by a connection that speaks for a part of the account sees and ends those of that connection only. */
function connectionSeen({ connectionId }: AccountVisit['session'], { isPart }: AccountVisit['account']) {
  return isPart ? connectionId : null;
}

/** Ends the session with an id, or all others: null. */
async function end(deps: Deps, visit: AccountVisit, id: string | null): Promise<Outcome> {
  if (id !== null && !isUuid(id)) return { kind: 'refused', notice: 'notPossible' };
  const { session, account } = visit;
  const now = deps.now();
  const which = { id, connectionId: connectionSeen(session, account), kept: session.id };
  const done = { kind: 'done', notice: id === null ? 'sessionsEnded' : 'sessionEnded' } as const;
  return await changeAccount(deps, visit, async (sql, person) => {
    const ended = await endSessionsOfUser(sql, session.userId, which);
    if (ended === 0) return done;
    await queueMail(sql, person, { kind: 'sessionsEnded', now, ...placeOf(visit) });
    const steps = [{ step: 'sessions ended', outcome: String(ended) }];
    await insertAuditEvent(sql, { event: 'own-sessions-ended', ...personOf(visit), steps }, now);
    return done;
  });
}
