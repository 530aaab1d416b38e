import type { FastifyReply, FastifyRequest } from 'fastify';
import { accountFields } from '#contract/account.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { AuditStep, RefusalReason } from '../audit/audit-events.ts';
import { isUuid } from '../crypto/token.ts';
import { type Connection, RollBack } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { findMayChangeFactors } from '../factors/may-change-factors.ts';
import {
  countPasskeys,
  insertPasskey,
  listCredentials,
  listPasskeys,
  providerName,
  removePasskey,
  updatePasskeyName,
} from '../factors/passkey.ts';
import {
  beginCeremony,
  browserToBegin,
  type Ceremony,
  creationOptions,
  refusePasskey,
  waitOfPasskeys,
} from '../factors/passkey-ceremony.ts';
import { type EnrolledKey, takeEnrolment } from '../factors/take-passkey.ts';
import { sendProblem } from '../http/refuse.ts';
import { limits } from '../limits.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { passkeyName, readPasskeyName } from '../names/read-name.ts';
import { canOpenByPasskey } from '../people/sign-in-user.ts';
import { deleteHalfSessionsOfUser } from '../sessions/half-session.ts';
import { placeOfVisitor, visitorOf } from '../sessions/visitor.ts';
import { type AccountVisit, accountVisitOf, isFormOf, personForChange, personOf } from './account-visit.ts';
import { proofToAsk } from './prove.ts';
import { changeAccount, countChange, type Fields, type Outcome, type Section } from './section.ts';

/** The passkeys of the account: enrolled after a fresh proof, renamed, removed after one. */
export const passkeys: Section = {
  name: 'passkeys',
  kept: ['id', 'name'],
  view,
  actions: {
    enrol: { needsProof: true, run: enrolPasskey },
    rename: { needsProof: false, run: rename },
    remove: { needsProof: true, run: remove },
  },
};

async function view(deps: Deps, visit: AccountVisit) {
  const { sql, config } = deps;
  const { session, account } = visit;
  const found = account.isPart ? [] : await listPasskeys(sql, session.userId);
  return {
    name: 'passkeys' as const,
    state: !config.passkeys
      ? ('off' as const)
      : account.isPart
        ? ('part' as const)
        : await standingOf(deps, sql, visit),
    isFull: found.length >= limits.passkeysOfUser,
    isProven: proofToAsk(visit, deps.now()) === null,
    passkeys: found.map((one) => ({ ...one, provider: providerName(one.aaguid) })),
  };
}

async function rename(deps: Deps, visit: AccountVisit, { id = '', name = '' }: Fields): Promise<Outcome> {
  const reading = readPasskeyName(name);
  if (reading.kind === 'refused') return { kind: 'refused', notice: 'passkeyName' };
  const { userId } = visit.session;
  if (!isUuid(id)) return { kind: 'done', notice: 'passkeyGone' };
  const now = deps.now();
  return await changeAccount(deps, visit, async (sql) => {
    if (!(await updatePasskeyName(sql, { id, userId, name: reading.value })))
      return { kind: 'done', notice: 'passkeyGone' };
    const steps = [{ step: 'passkey', outcome: `${id}, ${reading.value}` }];
    await insertAuditEvent(sql, { event: 'passkey-renamed', ...personOf(visit), steps }, now);
    return { kind: 'done', notice: 'passkeyRenamed' };
  });
}

async function remove(deps: Deps, visit: AccountVisit, { id = '' }: Fields): Promise<Outcome> {
  if (!isUuid(id)) return { kind: 'done', notice: 'passkeyGone' };
  const now = deps.now();
  const by = { event: personOf(visit), mail: placeOfVisitor(visit.visitor), sessionId: visit.session.id };
  return await changeAccount(deps, visit, async (sql) => {
    const { userId, username } = visit.session;
    const isRemoved = await removePasskey(sql, { id, user: { id: userId, username } }, by, now);
    return { kind: 'done', notice: isRemoved ? 'passkeyRemoved' : 'passkeyGone' };
  });
}

function ceremonyOf({ session, visitor }: AccountVisit, browserToken = visitor.passkeyToken): Ceremony {
  return { purpose: 'enrol', browserToken, owner: session.id };
}

/**
 * `POST passkeys/enrol/options`: begins an enrolment for a session with a fresh proof; 401 or 409 without. 409 also for the page
 * of another session: the authenticator would keep a passkey that the page's form is then refused. On no device twice.
 */
export function enrolOptionsRoute(deps: Deps) {
  const { passkeys: rp, brand } = deps.config;

  return async function enrolOptions(request: FastifyRequest, reply: FastifyReply) {
    if (!rp) return sendProblem(reply, 404);
    const visitor = visitorOf(deps, request);
    const visit = await accountVisitOf(deps, visitor);
    if (!visit) return sendProblem(reply, 401);
    const fields = (request.body ?? {}) as Fields;
    if (fields[accountFields.sessionId] !== undefined && !isFormOf(visit, fields)) return sendProblem(reply, 409);
    const isProven = proofToAsk(visit, deps.now()) === null;
    if (!isProven || visit.account.isPart || (await standingOf(deps, deps.sql, visit)) !== 'open')
      return sendProblem(reply, 409);
    const browserToken = await browserToBegin(deps, reply, visitor);
    if (browserToken === null) return reply;
    const { userId, username } = visit.session;
    const challenge = await beginCeremony(deps, ceremonyOf(visit, browserToken));
    const known = await listCredentials(deps.sql, { userId, rpId: rp.id });
    const names = { id: rp.id, name: brand.branding.name };
    return reply.send(creationOptions(challenge, names, { id: userId, username }, known));
  };
}

/** Stores the passkey that an authenticator has made, or nothing. */
async function enrolPasskey(deps: Deps, visit: AccountVisit, { credential: answer = '' }: Fields): Promise<Outcome> {
  const rp = deps.config.passkeys;
  if (!rp) return { kind: 'refused', notice: 'notPossible' };
  const user = { id: visit.session.userId, username: visit.session.username };
  const wait = await waitOfPasskeys(deps, visit.visitor, user);
  if (wait) return { kind: 'throttled', retryAfter: wait.retryAfter };
  // Each is an email, as is each removal of one.
  const throttled = await countChange(deps, visit, 'passkey');
  if (throttled) return throttled;
  const steps: AuditStep[] = [];
  const taken = await takeEnrolment(deps, rp, { ...ceremonyOf(visit), answer }, steps);
  const reason = taken.kind === 'refused' ? taken.reason : await store(deps, rp.id, visit, taken.key, steps);
  if (reason !== null) {
    const refused = { event: 'passkey-not-added', reason, steps, user } as const;
    return { kind: 'refused', notice: 'passkeyRefused', reference: await refusePasskey(deps, visit.visitor, refused) };
  }
  deps.wake.mails();
  return { kind: 'done', notice: 'passkeyAdded' };
}

/** Null once it is stored, or why it is not. */
async function store(
  deps: Deps,
  rpId: string,
  visit: AccountVisit,
  key: EnrolledKey,
  steps: AuditStep[],
): Promise<RefusalReason | null> {
  const { userId } = visit.session;
  const now = deps.now();
  return await deps.sql.begin(async (sql): Promise<null | RollBack<RefusalReason>> => {
    const reader = await personForChange(sql, visit);
    // A passkey counts for the whole account, so not every session may add one (docs/decisions/0019).
    if (!reader || (await standingOf(deps, sql, visit)) !== 'open') return new RollBack('session-over');
    if ((await countPasskeys(sql, userId)) >= limits.passkeysOfUser) return new RollBack('too-many-passkeys');
    const name = (providerName(key.aaguid) ?? visit.visitor.browser ?? 'Passkey').slice(0, passkeyName);
    const id = await insertPasskey(sql, { ...key, userId, rpId, name, now });
    if (!id) return new RollBack('already-enrolled');
    await deleteHalfSessionsOfUser(sql, userId);
    await queueMail(sql, reader, { kind: 'passkeyAdded', now, ...placeOfVisitor(visit.visitor), passkey: name });
    const made = [...steps, { step: 'passkey', outcome: `${id}, ${name}` }, { step: 'made', outcome: 'by the user' }];
    await insertAuditEvent(sql, { event: 'passkey-added', ...personOf(visit), steps: made }, now);
    return null;
  });
}

/**
 * Whether a session may add a passkey, or why not: see `AccountView` (contract/account.ts). A session by a provider never may:
 * a passkey signs in by itself, and would outlive the person's account at the provider. A session that would have to sign in
 * again for a code may if there is an app: the fresh proof was a code of it, or what counts as one (`proofToAsk`).
 */
async function standingOf(
  deps: Pick<Deps, 'now'>,
  sql: Connection,
  { session, account }: AccountVisit,
): Promise<'open' | 'useless' | 'signInAgain' | 'elsewhere'> {
  if (session.connectionId !== null || !(await canOpenByPasskey(sql, session.userId))) return 'useless';
  const may = await findMayChangeFactors(deps, sql, session.id);
  if (may === 'may' || (may === 'signInAgain' && account.hasApp)) return 'open';
  return may === 'signInAgain' ? may : 'elsewhere';
}
