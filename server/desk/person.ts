import type { DeskAct, DeskRole, DeskViewOf } from '#contract/desk.ts';
import { type AuditEventRow, listAuditEvents } from '../audit/audit-event.ts';
import { referenceOfRequest, referenceOfText } from '../audit/reference.ts';
import type { Deps } from '../deps.ts';
import { listSessionsOfUser } from '../sessions/end-sessions.ts';
import type { Asked, DeskPageRoom } from './desk-page.ts';
import { chainOf, doorNow } from './door.ts';
import { eventRowOf, eventsSeenBy, isOwn } from './event-row.ts';
import { type FoundPerson, findPerson } from './find-person.ts';
import { type Actor, mayAct, mayGive, type Target } from './may-act.ts';
import { personActs } from './person-acts.ts';

/** A person: who they are, why a sign-in of theirs failed, what the door would ask of them now, and what can be done about it. */
export const person: DeskPageRoom<FoundPerson> = {
  path: '/people/:id',
  kept: ['name', 'email', 'language', 'groups', 'customers', 'customer', 'administers', 'role', 'when'],
  find: findPerson,
  target: targetOf,
  view,
  acts: personActs,
};

function targetOf({ id, role, isForeign, customers }: FoundPerson): Target {
  return { kind: 'person', userId: id, role, isForeign, customers: customers.map(({ key }) => key) };
}

const eventsShown = 50;

async function view(deps: Deps, { desk, query }: Asked, found: FoundPerson): Promise<DeskViewOf<'person'>> {
  const { sql, actor, scope } = desk;
  const now = deps.now();
  const idleSince = new Date(now.getTime() - deps.config.sessionIdle);
  const reference = referenceOfText(query.reference ?? '');
  const theirs = { userId: found.id, ...eventsSeenBy(desk) };
  const [sessions, recorded] = await Promise.all([
    listSessionsOfUser(sql, { userId: found.id, customerIds: scope }, { now, idleSince }),
    listAuditEvents(sql, { ...theirs, limit: eventsShown }),
  ]);
  // Of a person with other customers, what concerns the way in at all of them is not an administrator's to know.
  const isShown = (event: AuditEventRow) =>
    !found.isForeign || /^(?:signed-|sign-in-|sso-)/.test(event.event) || isOwn(desk, event);
  const events = recorded.filter(isShown);
  // A page also shows what it calls a request, which its event need not have as its own.
  const isUnder = ({ reference: own, requestId }: AuditEventRow) =>
    own === reference || (requestId !== null && referenceOfRequest(requestId) === reference);
  let asked = reference === null ? [] : events.filter(isUnder);
  if (reference !== null && asked.length === 0)
    asked = (await listAuditEvents(sql, { ...theirs, reference, limit: eventsShown })).filter(isShown);
  const acts = actsOf(actor, found, sessions.length);
  const { isForeign, word, waitsUntil, seen } = found;
  return {
    name: 'person',
    id: found.id,
    displayName: found.name,
    username: found.username,
    email: isForeign ? null : found.email,
    language: isForeign ? null : found.language,
    customers: found.customers,
    role: isForeign ? null : found.role,
    state: { word, until: word === 'waits' ? waitsUntil : null },
    acts,
    roles: (['support', 'operator'] satisfies DeskRole[]).filter((role) => mayGive(actor, role)),
    factors: isForeign ? null : factorsOf(found),
    sessions: sessions.map(({ browser, address, lastSeenAt, provider }) => ({
      browser,
      address,
      lastSeenAt,
      provider,
    })),
    resetAt: isForeign ? null : found.resetAt,
    door: isForeign ? [] : doorNow(found),
    chain: chainOf(desk, asked, acts),
    events: events.map((event) => eventRowOf(desk, event)),
    seen,
  };
}

function factorsOf(found: FoundPerson): DeskViewOf<'person'>['factors'] {
  const { hasPassword, ssoRequired, ssoPossible, passkeys, appSince, recoveryCodesLeft, devices } = found;
  const isByProvider = ssoRequired || (!hasPassword && ssoPossible);
  return {
    password: isByProvider ? 'singleSignOn' : hasPassword ? 'own' : 'none',
    passkeys: passkeys.map(({ name, lastUsedAt }) => ({
      name,
      lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt),
    })),
    appSince,
    recoveryCodesLeft,
    devices,
  };
}

/** What whoever looks may do with them, and would do something; in this order. */
function actsOf(actor: Actor, found: FoundPerson, sessions: number): DeskAct[] {
  const { active, customers, resetAt } = found;
  const hasFactor = found.appSince !== null || found.isEmailConfirmed || found.devices > 0;
  const isCustomerActive = customers.some(({ active }) => active);
  const helpful: [DeskAct, boolean][] = [
    ['liftWait', found.waitsUntil !== null],
    ['sendLink', active && found.mayChangePassword && !found.ssoRequired && isCustomerActive],
    ['keepFactor', resetAt !== null],
    ['resetFactor', hasFactor && resetAt === null],
    ['endSessions', sessions > 0],
    ['change', true],
    ['groups', customers.length > 0],
    ['administer', customers.length > 0],
    ['role', true],
    ['customers', true],
    ['activate', !active],
    ['deactivate', active],
  ];
  return helpful.flatMap(([act, isHelpful]) => (isHelpful && mayAct(actor, act, targetOf(found)) ? [act] : []));
}
