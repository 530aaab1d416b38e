import type { FastifyReply } from 'fastify';
import { queryNames } from '#contract/screens.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { AuditStep, SsoRefusalReason } from '../audit/audit-events.ts';
import { seal } from '../crypto/keys.ts';
import { newToken, tokenHash } from '../crypto/token.ts';
import { type Connection, RollBack } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { noteDevice, recallDevice } from '../factors/devices.ts';
import { findFactorsOfUser } from '../factors/may-change-factors.ts';
import { limits } from '../limits.ts';
import type { SignInCustomer, SsoUser } from '../people/sign-in-user.ts';
import { signOutQuestionUrl } from '../sessions/end-sessions.ts';
import { deleteSessionOfBrowser, idTokenPlace, insertSession } from '../sessions/session.ts';
import { endVisitsOfBrowser, forgetConnection, lockVisit, rememberConnection, type Visit } from '../sessions/visit.ts';
import { type Visitor, visitorOf } from '../sessions/visitor.ts';
import type { Who } from '../sessions/who.ts';
import { letIn, refuseSignIn } from '../sign-in/answer-sign-in.ts';
import { sendFirstCode } from '../sign-in/open-session.ts';
import { firstFactor, isSpared, type SignInResult, whatIsAsked } from '../sign-in/sign-in-rules.ts';
import { askedOf, type ClaimedVisit } from './claim-visit.ts';
import { fail, noticeOf, recordSsoFailure } from './fail.ts';
import { matchUser, takeNameAndGroups } from './match-user.ts';
import { type Identity, type ProviderAnswer, provenAtProvider } from './provider-answer.ts';
import type { SsoConnection } from './sso-connection.ts';

/** Leads on from a claimed visit whose answer was read: into a session, or to the page that says why not. */
export async function finishVisit(
  deps: Deps,
  reply: FastifyReply,
  { visit, details, connection }: ClaimedVisit,
  answer: ProviderAnswer,
): Promise<FastifyReply> {
  const { config } = deps;
  const { protocol } = connection;
  const { typed, ...asked } = askedOf(details);
  if (answer.kind === 'refused') return await fail(deps, reply, answer, { ...asked, typed, protocol, connection });
  const steps: AuditStep[] = [];
  const result = await signInByProvider(
    deps,
    { visit, connection, identity: answer.identity },
    visitorOf(deps, reply.request),
    steps,
  );
  if (result.kind !== 'undone') {
    if (result.kind === 'signedIn') rememberConnection(deps, reply, connection.id);
    return await letIn(deps, reply, result, { ...asked, username: typed, byProvider: true });
  }
  const { reason, user } = result;
  const failure = { reason, connection, steps, ...(user && { user }) };
  const reference = await recordSsoFailure(deps, reply.request, failure);
  if (reason === 'signed-in-as-other') {
    const query = { [queryNames.destination]: asked.destination, lang: asked.lang };
    return reply.redirect(signOutQuestionUrl(config.basePath, query), 303);
  }
  const refused = { reference, username: typed ?? '' };
  if (reason === 'network') return refuseSignIn(reply, config, { ...refused, type: 'ip' }, asked);
  forgetConnection(deps, reply);
  const notice = noticeOf[reason];
  return refuseSignIn(reply, config, { ...refused, type: protocol, ...(notice && { notice }) }, asked);
}

type Vouched = { visit: Visit; connection: SsoConnection; identity: Identity };
type Member = SsoUser & { customer: SignInCustomer };
type Done = Extract<SignInResult, { kind: 'signedIn' | 'secondFactor' }> & {
  user: Member;
  isRemembered: boolean;
  sessionId: string;
};
type Undone = { kind: 'undone'; reason: SsoRefusalReason; user?: SsoUser | undefined };

/**
 * Signs in the person a provider vouched for, by the rules of a password sign-in. The session is
 * limited to the connection's customer: a provider speaks for nobody else. Either everything is stored, or nothing: if it is
 * refused, or somebody else is signed in here.
 */
async function signInByProvider(
  deps: Deps,
  vouched: Vouched,
  visitor: Visitor,
  steps: AuditStep[],
): Promise<Done | Undone> {
  const { connection } = vouched;
  const here = await visitor.who();
  const done = await deps.sql.begin(async (sql): Promise<Done | RollBack<Undone>> => {
    const refusal = await refusalOfAnswer(sql, vouched, deps.now(), steps);
    if (refusal) return new RollBack(refusal);
    const { address } = visitor;
    const match = await matchUser(sql, connection, vouched.identity, { address, now: deps.now(), steps });
    if (match.kind === 'refused') {
      steps.push({ step: 'match', outcome: match.words });
      return new RollBack<Undone>({ kind: 'undone', reason: match.reason, user: match.user });
    }
    const user = match.user as Member;
    const undone = refusedByRules(user, address, steps) ?? somebodyElse(user, here, steps);
    if (undone) return new RollBack(undone);
    await takeNameAndGroups(sql, connection, { user, said: vouched.identity, steps });
    return await openSession(deps, sql, vouched, user, visitor, steps);
  });
  if (done.kind === 'undone') return done;
  const outcome = done.kind === 'signedIn' ? 'signed-in' : 'second-factor-asked';
  deps.metrics.singleSignOn.inc({ connection: connection.key, outcome });
  deps.metrics.signIns.inc({ method: done.isRemembered ? 'remembered' : connection.protocol, outcome });
  if (done.kind === 'secondFactor' && done.factor === 'email')
    await sendFirstCode(
      deps,
      { ...done.user, customers: [done.user.customer], connectionId: connection.id },
      done.sessionId,
      visitor,
    );
  deps.wake.mails();
  return done;
}

/** Why the answer signs in nobody, whoever it names; locks the visit and the connection. */
async function refusalOfAnswer(
  sql: Connection,
  { visit, identity }: Vouched,
  now: Date,
  steps: AuditStep[],
): Promise<Undone | null> {
  const standing = await lockVisit(sql, visit);
  if (standing === 'disabled') return { kind: 'undone', reason: 'connection-disabled' };
  if (standing === 'ended') {
    const outcome = 'from before the connection was changed, somebody unlinked, or somebody signed in or out here';
    steps.push({ step: 'answer', outcome });
    return { kind: 'undone', reason: 'request-unknown' };
  }
  const endsAt = identity.sessionEndsAt;
  if (endsAt === null || endsAt > now.getTime()) return null;
  steps.push({ step: 'session at the provider', outcome: `over since ${new Date(endsAt).toISOString()}` });
  return { kind: 'undone', reason: 'provider-session-over' };
}

function refusedByRules(user: Member, address: string, steps: AuditStep[]): Undone | null {
  steps.push({ step: 'active', outcome: user.active ? 'yes' : 'no' });
  if (!user.active) return { kind: 'undone', reason: 'inactive', user };
  const { key, admits } = user.customer;
  steps.push({ step: `networks of ${key}`, outcome: `${admits ? 'admit' : 'do not admit'} ${address}` });
  return admits ? null : { kind: 'undone', reason: 'network', user };
}

/** Nobody knows who sent this browser to the provider, or who is signed in there. Unlike a password, its answer replaces nobody. */
function somebodyElse(user: Member, here: Who, steps: AuditStep[]): Undone | null {
  if (here.kind !== 'full' || here.session.userId === user.id) return null;
  steps.push({ step: 'signed in here', outcome: here.session.username });
  return { kind: 'undone', reason: 'signed-in-as-other', user };
}

/** Opens the session, full or waiting for a second factor, in place of the one that the browser shows. */
async function openSession(
  deps: Deps,
  sql: Connection,
  { visit, connection, identity }: Vouched,
  user: Member,
  visitor: Visitor,
  steps: AuditStep[],
): Promise<Done> {
  const { address, browser, requestId } = visitor;
  const now = deps.now();
  const { id: userId, username, customer } = user;
  const factors = await findFactorsOfUser(sql, userId, { connectionId: connection.id, rpId: null });
  const rememberedBy = await recallDevice(sql, visitor, userId, now);
  // A registration needs no further code: the visit to it asked for a fresh sign-in and forgot the remembered device (begin-visit.ts).
  const situation = { ...factors, customers: [customer], rememberedBy, setsUpApp: false };
  const stepUp = identity.authenticationContexts.find((value) => connection.secondFactorValues.includes(value));
  const asked = stepUp === undefined ? whatIsAsked(situation) : [];
  if (stepUp !== undefined) steps.push({ step: 'second factor', outcome: `the provider says ${stepUp}` });
  const isRemembered = stepUp === undefined && isSpared(situation);
  if (isRemembered) steps.push({ step: 'second factor', outcome: 'remembered device' });

  const sessionToken = newToken();
  const lifetime = asked.length > 0 ? limits.halfSession : deps.config.sessionAbsolute;
  const providerEndsAt = identity.sessionEndsAt ?? Number.POSITIVE_INFINITY;
  await deleteSessionOfBrowser(sql, visitor.sessionHash);
  await endVisitsOfBrowser(sql, visit.cookieHash, now, visit.id);
  const sessionId = await insertSession(sql, {
    tokenHash: tokenHash(sessionToken),
    userId,
    customerIds: [customer.id],
    address,
    browser,
    origin: originOf(deps, { visit, connection, identity }, userId),
    waitsFor: asked,
    proof: isRemembered ? 'remembered' : 'provider',
    provenAt: provenAtProvider(identity, now),
    now,
    endsAt: new Date(Math.min(now.getTime() + lifetime, providerEndsAt)),
  });
  const keys = { customerKey: customer.key, connection: connection.key };
  const event = { userId, username, ...keys, address, browser, requestId, steps };
  if (asked.length > 0) {
    await insertAuditEvent(sql, { event: 'second-factor-asked', ...event }, now);
    return { kind: 'secondFactor', ...firstFactor(asked, factors), sessionToken, sessionId, user, isRemembered };
  }
  const deviceToken = await noteDevice(sql, user, visitor, { byPassword: false, now });
  await insertAuditEvent(sql, { event: 'signed-in', ...event }, now);
  return { kind: 'signedIn', sessionToken, sessionId, deviceToken, user, isRemembered };
}

/** What a session keeps of its provider: by what that one ends it, and what it wants to see at sign-out. */
function originOf({ keys }: Deps, { connection, identity }: Vouched, userId: string) {
  const { idToken, samlName, sessionEndsAt } = identity;
  const proof = idToken ?? (samlName ? JSON.stringify(samlName) : null);
  return {
    connectionId: connection.id,
    sealedIdToken: proof === null ? null : seal(keys.seal, proof, idTokenPlace(userId)),
    providerSubjectHash: tokenHash(identity.subject),
    providerSessionHash: identity.session === undefined ? null : tokenHash(identity.session),
    providerEndsAt: sessionEndsAt === null ? null : new Date(sessionEndsAt),
  };
}
