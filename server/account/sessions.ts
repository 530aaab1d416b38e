import type { AccountSession, AccountSignIn } from '#contract/account.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { isUuid } from '../crypto/token.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { endSessionsOfUser, listSessionsOfUser } from '../sessions/end-sessions.ts';
import { placeOfVisitor } from '../sessions/visitor.ts';
import { type AccountVisit, personOf } from './account-visit.ts';
import { changeAccount, type Fields, type Outcome, type Section } from './section.ts';

/** Where a person is signed in. Ending sessions only takes away, so it needs no proof. */
export const sessions: Section = {
  name: 'sessions',
  kept: [],
  view: async (deps, visit) => ({ name: 'sessions', sessions: await listSessions(deps, visit) }),
  actions: {
    end: { needsProof: false, run: (deps, visit, { id = '' }: Fields) => end(deps, visit, id) },
    endOthers: { needsProof: false, run: (deps, visit) => end(deps, visit, null) },
  },
};

/** The sessions that this one sees, its own first. */
export async function listSessions(
  { sql, config, now }: Deps,
  { session, account }: AccountVisit,
): Promise<AccountSession[]> {
  const whose = { userId: session.userId, connectionId: connectionSeen(session, account) };
  const idleSince = new Date(now().getTime() - config.sessionIdle);
  const listed = await listSessionsOfUser(sql, whose, { now: now(), idleSince });
  return listed
    .map((one) => ({ ...one, isThis: one.id === session.id }))
    .sort((one, other) => Number(other.isThis) - Number(one.isThis));
}

/** A session by a connection that speaks for a part of the account sees and ends those of that connection only. */
function connectionSeen({ connectionId }: AccountVisit['session'], { isPart }: AccountVisit['account']) {
  return isPart ? connectionId : null;
}

async function end(deps: Deps, visit: AccountVisit, id: string | null): Promise<Outcome> {
  if (id !== null && !isUuid(id)) return { kind: 'refused', notice: 'notPossible' };
  const { session, account } = visit;
  const now = deps.now();
  const which = { id, connectionId: connectionSeen(session, account), kept: session.id };
  const done = { kind: 'done', notice: id === null ? 'sessionsEnded' : 'sessionEnded' } as const;
  return await changeAccount(deps, visit, async (sql, person) => {
    const ended = await endSessionsOfUser(sql, session.userId, which);
    if (ended === 0) return done;
    await queueMail(sql, person, { kind: 'sessionsEnded', now, ...placeOfVisitor(visit.visitor) });
    const steps = [{ step: 'sessions ended', outcome: String(ended) }];
    await insertAuditEvent(sql, { event: 'own-sessions-ended', ...personOf(visit), steps }, now);
    return done;
  });
}

const signInsShown = 20;

/** The last sign-ins of the account; of a session that speaks for a part of it, those of its connection. */
export const signIns: Section = {
  name: 'signIns',
  kept: [],
  actions: {},
  view: async (deps, visit) => ({ name: 'signIns', signIns: await listSignIns(deps, visit) }),
};

export async function listSignIns({ sql }: Deps, { session, account }: AccountVisit): Promise<AccountSignIn[]> {
  const whose = { userId: session.userId, connectionId: connectionSeen(session, account), limit: signInsShown };
  return (await listSignInsOfUser(sql, whose)).map((one) => ({ ...one, outcome: outcomeOf(one) }));
}

function outcomeOf({ event, reason }: PastSignIn): AccountSignIn['outcome'] {
  if (event === 'signed-in') return 'signedIn';
  if (event === 'code-refused') return 'codeWrong';
  if (event === 'code-throttled' || event === 'second-factor-ended' || reason?.startsWith('throttled'))
    return 'tooManyAttempts';
  return reason === 'wrong-password' ? 'passwordWrong' : 'refused';
}

/** What became of one of a person's sign-ins, or of a code; `reason` as recorded. */
type PastSignIn = Omit<AccountSignIn, 'outcome'> & { event: string; reason: string | null };

const shown = [
  'signed-in',
  'sign-in-refused',
  'sso-refused',
  'passkey-refused',
  'code-refused',
  'code-throttled',
  'second-factor-ended',
];

async function listSignInsOfUser(
  sql: Connection,
  { userId, connectionId, limit }: { userId: string; connectionId: string | null; limit: number },
): Promise<PastSignIn[]> {
  return await sql<PastSignIn[]>`
    select e.at, e.event, e.reason, e.browser, host(e.address) as address, coalesce(c.name, e.connection) as provider,
      e.event = 'passkey-refused' or e.steps @> '[{"step": "passkey"}]' as "isByPasskey"
    from audit_event e left join sso_connection c on c.key = e.connection
    where e.user_id = ${userId} and e.event = any(${shown}::text[])
      and (${connectionId}::uuid is null or c.id = ${connectionId}::uuid)
    order by e.id desc limit ${limit}`;
}
