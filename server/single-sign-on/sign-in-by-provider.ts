import type { AuditStep, SsoRefusalReason } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { browserName } from '../names/browser-name.ts';
import { seal } from '../secrets/sealed.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import { sendFirstCode } from '../sign-in/send-first-code.ts';
import type { SignInResult } from '../sign-in/sign-in-result.ts';
import { firstFactor, isSpared, whatIsAsked } from '../sign-in/what-is-asked.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { RollBack } from '../storage/database.ts';
import { findFactorsOfUser } from '../storage/factors-of-user.ts';
import { recallDevice } from '../storage/remembered-device.ts';
import { deleteSessionOfBrowser, idTokenPlace, insertSession } from '../storage/session.ts';
import type { SignInCustomer } from '../storage/sign-in.ts';
import { type SsoConnection, standingOfAnswerForShare } from '../storage/sso-connection.ts';
import { endOtherVisits, type SsoRequestRow } from '../storage/sso-request.ts';
import type { SsoUser } from '../storage/sso-user.ts';
import { noteDevice } from '../two-factor/note-device.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import { provenAtProvider } from './authentication-age.ts';
import type { Identity } from './identity.ts';
import { matchUser } from './match-user.ts';
import { recordSsoFailure } from './record-failure.ts';

type Member = SsoUser & { customer: SignInCustomer };
/** The person a provider vouched for, and the visit it answered. */
type Vouched = { identity: Identity; visit: Pick<SsoRequestRow, 'id' | 'browserHash'> };
type Done = Extract<SignInResult, { kind: 'signedIn' | 'secondFactor' }> & { user: Member; isRemembered: boolean };

/**
 * Signs in the person a provider vouched for, by the rules of a password sign-in (decisions §7, §9). The session is
 * limited to the connection's customer: a provider speaks for nobody else. Either everything is stored, or nothing: if it is
 * refused, or somebody else is signed in here.
 */
export async function signInByProvider(
  deps: Deps,
  connection: SsoConnection,
  vouched: Vouched,
  visitor: KnownVisitor,
): Promise<Exclude<SignInResult, { kind: 'throttled' }> | { kind: 'somebodyElse' }> {
  const steps: AuditStep[] = [];
  const done = await deps.sql.begin((sql) => complete(deps, sql, connection, vouched, visitor, steps));
  if (done.kind !== 'signedIn' && done.kind !== 'secondFactor') {
    const { user } = done;
    const reason = done.kind === 'refused' ? done.reason : 'signed-in-as-other';
    const { address, requestId } = visitor;
    const failure = { reason, connection, steps, address, requestId, ...(user && { user }) };
    const reference = await recordSsoFailure(deps, failure);
    if (done.kind === 'somebodyElse') return { kind: 'somebodyElse' };
    return { kind: reason === 'network' ? 'networkRefused' : 'refused', reference };
  }
  const outcome = done.kind === 'signedIn' ? 'signed-in' : 'second-factor-asked';
  deps.metrics.singleSignOn.inc({ connection: connection.key, outcome });
  deps.metrics.signIns.inc({ way: done.isRemembered ? 'remembered' : connection.protocol, outcome });
  if (done.kind === 'secondFactor' && done.factor === 'email')
    await sendFirstCode(
      deps,
      { ...done.user, customers: [done.user.customer], connectionId: connection.id },
      done.sessionToken,
      visitor,
    );
  deps.wake.mails();
  return done;
}

/** Why nothing is stored. */
type Undone =
  | { kind: 'refused'; reason: SsoRefusalReason; user: SsoUser | undefined }
  | { kind: 'somebodyElse'; user: Member };

function refused(reason: SsoRefusalReason, user?: SsoUser): RollBack<Undone> {
  return new RollBack({ kind: 'refused', reason, user });
}

async function complete(
  deps: Deps,
  sql: Connection,
  connection: SsoConnection,
  { identity, visit }: Vouched,
  visitor: KnownVisitor,
  steps: AuditStep[],
): Promise<Done | RollBack<Undone>> {
  const { address, requestId } = visitor;
  const now = deps.now();
  const standing = await standingOfAnswerForShare(sql, { connectionId: connection.id, visitId: visit.id });
  if (standing === 'disabled') return refused('connection-disabled');
  if (standing === 'ended') {
    steps.push({ step: 'answer', outcome: 'from before the connection was changed, or somebody unlinked' });
    return refused('request-unknown');
  }
  const providerEndsAt = identity.sessionEndsAt === null ? null : new Date(identity.sessionEndsAt);
  if (providerEndsAt && providerEndsAt <= now) {
    steps.push({ step: 'session at the provider', outcome: `over since ${providerEndsAt.toISOString()}` });
    return refused('provider-session-over');
  }
  const subjectHash = tokenHash(identity.subject);
  const sessionHash = identity.session === undefined ? null : tokenHash(identity.session);
  const user = await admitted(sql, connection, identity, { address, now, steps });
  if (user instanceof RollBack) return user;
  const here = await visitor.who();
  if (here.kind === 'full' && here.session.userId !== user.id) {
    steps.push({ step: 'signed in here', outcome: here.session.username });
    return new RollBack({ kind: 'somebodyElse', user });
  }
  const { customer } = user;
  const stepUp = identity.authenticationContexts.find((value) => connection.secondFactorValues.includes(value));
  const factors = await findFactorsOfUser(sql, user.id, { connectionId: connection.id, rpId: null });
  const rememberedBy = await recallDevice(sql, visitor, user.id, now);
  const situation = { ...factors, customers: [customer], rememberedBy, isToRegister: false };
  const asked = stepUp === undefined ? whatIsAsked(situation) : [];
  if (stepUp !== undefined) steps.push({ step: 'second factor', outcome: `the provider says ${stepUp}` });
  const isRemembered = stepUp === undefined && isSpared(situation);
  if (isRemembered) steps.push({ step: 'second factor', outcome: 'remembered device' });

  const sessionToken = newToken();
  const proof = identity.idToken ?? (identity.samlName ? JSON.stringify(identity.samlName) : null);
  const lifetime = asked.length > 0 ? limits.halfSession : deps.config.sessionAbsolute;
  const endsAt = new Date(Math.min(now.getTime() + lifetime, providerEndsAt?.getTime() ?? Number.POSITIVE_INFINITY));
  const session = {
    tokenHash: tokenHash(sessionToken),
    userId: user.id,
    customerIds: [customer.id],
    address,
    browser: browserName(visitor.userAgent) ?? null,
    origin: {
      connectionId: connection.id,
      sealedIdToken: proof === null ? null : seal(deps.keys.seal, proof, idTokenPlace(user.id)),
      providerSubjectHash: subjectHash,
      providerSessionHash: sessionHash,
      providerEndsAt,
    },
    waitsFor: asked,
    proof: isRemembered ? ('remembered' as const) : ('provider' as const),
    provenAt: provenAtProvider(identity, now),
    now,
    endsAt,
  };
  await deleteSessionOfBrowser(sql, visitor.sessionHash);
  await endOtherVisits(sql, visit, now);
  await insertSession(sql, session);
  const { id: userId, username } = user;
  const event = { userId, username, customerKey: customer.key, connection: connection.key, address, requestId, steps };
  if (asked.length > 0) {
    await insertAuditEvent(sql, { event: 'second-factor-asked', ...event }, now);
    return {
      kind: 'secondFactor',
      ...firstFactor(asked, factors),
      sessionToken,
      user,
      isRemembered,
    };
  }
  const deviceToken = await noteDevice(sql, user, visitor, { byPassword: false, now });
  await insertAuditEvent(sql, { event: 'signed-in', ...event }, now);
  return { kind: 'signedIn', sessionToken, deviceToken, user, isRemembered };
}

/** The user the provider means, or why they may not come in. */
async function admitted(
  sql: Connection,
  connection: SsoConnection,
  identity: Identity,
  { address, now, steps }: { address: string; now: Date; steps: AuditStep[] },
): Promise<Member | RollBack<Undone>> {
  const match = await matchUser(sql, connection, identity, { address, now, steps });
  if (match.kind === 'refused') {
    steps.push({ step: 'match', outcome: match.words });
    return refused(match.reason, match.user);
  }
  const { user } = match;
  steps.push({ step: 'active', outcome: user.active ? 'yes' : 'no' });
  if (!user.active) return refused('inactive', user);
  const { customer } = user as Member;
  steps.push({
    step: `networks of ${customer.key}`,
    outcome: `${customer.admits ? 'admit' : 'do not admit'} ${address}`,
  });
  if (!customer.admits) return refused('network', user);
  return user as Member;
}
