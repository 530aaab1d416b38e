import type { DeskAct, DeskRole, DeskViewOf } from '#contract/desk.ts';
import { listAuditEvents } from '../audit/audit-event.ts';
import { referenceOfText } from '../audit/reference.ts';
import type { Deps } from '../deps.ts';
import { listSessionsOfUser } from '../sessions/end-sessions.ts';
import type { Asked, DeskPageRoom } from './desk-page.ts';
import { chainOf, doorNow } from './door.ts';
import { eventRowOf, eventsSeenBy } from './events.ts';
import { type FoundPerson, findPerson } from './find-person.ts';
import { type Actor, mayAct, mayGive, type Target } from './may-act.ts';
import { personActs } from './person-acts.ts';

/** A person: who they are, why a sign-in of theirs failed, what the door would ask of them now, and what can be done about it. */
export const person: DeskPageRoom<FoundPerson> = {
  path: '/people/:id',
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
  const { id, name: displayName, username, email, language, customers, role, resetAt, isForeign, word, seen } = found;
  const now = deps.now();
  const idleSince = new Date(now.getTime() - deps.config.sessionIdle);
  const reference = referenceOfText(query.reference ?? '');
  const theirs = { userId: id, ...eventsSeenBy(desk), limit: eventsShown };
  const [alive, events, asked] = await Promise.all([
    listSessionsOfUser(sql, { userId: id, customerIds: scope }, { now, idleSince }),
    listAuditEvents(sql, theirs),
    reference === null ? [] : listAuditEvents(sql, { ...theirs, reference }),
  ]);
  const acts = actsOf(actor, found, alive.length);
  return {
    name: 'person',
    ...{ id, displayName, username, customers, acts, seen },
    ...(isForeign
      ? { email: null, language: null, role: null, factors: null, resetAt: null, door: [] }
      : { email, language, role, factors: factorsOf(found), resetAt, door: doorNow(found) }),
    state: { word, until: word === 'waits' ? found.waitsUntil : null },
    roles: (['support', 'operator'] satisfies DeskRole[]).filter((role) => mayGive(actor, role)),
    sessions: alive.map(({ browser, address, lastSeenAt, provider }) => ({ browser, address, lastSeenAt, provider })),
    chain: chainOf(desk, asked, acts),
    events: events.map((event) => eventRowOf(desk, event)),
  };
}

function factorsOf(found: FoundPerson): DeskViewOf<'person'>['factors'] {
  const { hasPassword, ssoRequired, ssoPossible, passkeys, appSince, recoveryCodesLeft, devices } = found;
  const isByProvider = ssoRequired || (!hasPassword && ssoPossible);
  return {
    password: isByProvider ? 'singleSignOn' : hasPassword ? 'own' : 'none',
    passkeys: passkeys.map(({ name, lastUsedAt: at }) => ({ name, lastUsedAt: at === null ? null : new Date(at) })),
    ...{ appSince, recoveryCodesLeft, devices },
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
