import { type AuditStep, customersOfEvent } from '../audit/audit-events.ts';
import type { PasskeyRefusalReason } from '../audit/passkey-reasons.ts';
import type { RelyingParty } from '../config/relying-party.ts';
import type { Deps } from '../deps/deps.ts';
import { browserName } from '../names/browser-name.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import type { SignInResult } from '../sign-in/sign-in-result.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { RollBack } from '../storage/database.ts';
import { findPasskeyToVerify, type PasskeyToVerify, updatePasskeyUsed } from '../storage/passkey.ts';
import type { PasskeyPurpose } from '../storage/passkey-challenge.ts';
import { findPasskeyUserForShare, type PasskeyUser } from '../storage/passkey-user.ts';
import { deleteSessionOfBrowser, insertSession, isSessionThereForUpdate, noProvider } from '../storage/session.ts';
import { noteDevice } from '../two-factor/note-device.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import { takeCeremony } from './ceremony.ts';
import { checkAssertion } from './check-assertion.ts';
import { readAssertion, readClientData } from './read-answer.ts';
import { type RefusedUser, refusePasskey } from './refuse-passkey.ts';

type PasskeyRequest = {
  visitor: KnownVisitor;
  /** The authenticator's answer, as JSON. */
  answer: string;
  purpose: Extract<PasskeyPurpose, 'sign-in' | 'second-factor'>;
};

/** `unknownPasskey`: the id of one that nobody has, or not any more. `expired`: what a password began, and the passkey was to complete, is over. `noCookie`: the browser did not show ours. */
type Result =
  | Extract<SignInResult, { kind: 'signedIn' | 'networkRefused' }>
  | { kind: 'refused'; reference: string; unknownPasskey: string | null }
  | { kind: 'expired' }
  | { kind: 'noCookie'; reference: string };
/** `isSigned`: only after the signature was found right. */
type Refused = { kind: 'refused'; reason: PasskeyRefusalReason; user?: RefusedUser; isSigned?: true };

function refusedSigned(reason: PasskeyRefusalReason, user: RefusedUser): Refused {
  return { kind: 'refused', reason, user, isSigned: true };
}

/**
 * Signs in by a passkey, which is a whole sign-in: something the person has, which has verified them (docs/decisions/0052).
 * The rules of every other way in follow. The challenge is spent by the first answer; otherwise everything is stored, or
 * nothing.
 */
export async function signInByPasskey(deps: Deps, rp: RelyingParty, request: PasskeyRequest): Promise<Result> {
  const { visitor } = request;
  const steps: AuditStep[] = [];
  const done = await complete(deps, rp, request, steps);
  if (done.kind === 'refused') {
    const reference = await refusePasskey(deps, visitor, { ...done, steps });
    if (done.reason === 'sign-in-over') return { kind: 'expired' };
    if (done.reason === 'challenge-unknown' && visitor.passkeyToken === null) return { kind: 'noCookie', reference };
    if (done.reason === 'network') return { kind: 'networkRefused', reference };
    const unknownPasskey = done.reason === 'unknown-passkey' ? idOf(request.answer) : null;
    return { kind: 'refused', reference, unknownPasskey };
  }
  deps.metrics.signIns.inc({ way: 'passkey', outcome: 'signed-in' });
  deps.wake.mails();
  return done;
}

function idOf(answer: string): string | null {
  return readAssertion(answer)?.credentialId.toString('base64url') ?? null;
}

async function complete(
  deps: Deps,
  rp: RelyingParty,
  { visitor, answer, purpose }: PasskeyRequest,
  steps: AuditStep[],
): Promise<Extract<Result, { kind: 'signedIn' }> | Refused> {
  const assertion = readAssertion(answer);
  const clientData = assertion && readClientData(assertion.clientData);
  if (!assertion || !clientData) return { kind: 'refused', reason: 'malformed' };
  const who = await visitor.who();
  const ceremony = await takeCeremony(deps, clientData, { browserToken: visitor.passkeyToken, purpose }, steps);
  if (!ceremony) return { kind: 'refused', reason: 'challenge-unknown' };
  const passkey = await findPasskeyToVerify(deps.sql, { credentialId: assertion.credentialId, rpId: rp.id });
  if (!passkey) return { kind: 'refused', reason: 'unknown-passkey' };
  const user = { id: passkey.userId, username: passkey.username };
  steps.push({ step: 'passkey', outcome: `${passkey.id}, of ${passkey.username}` });
  const checked = await checkAssertion({ assertion, clientData, passkey }, rp, steps);
  if (checked.kind === 'refused') return { ...checked, user };
  if (purpose === 'second-factor') {
    if (who.kind !== 'half') return refusedSigned('sign-in-over', user);
    // Its session would be one by passkey, which the provider no longer ends.
    if (who.half.connectionId !== null) return refusedSigned('by-provider', user);
    // Who has typed a name and a password is not signed in as somebody else.
    if (who.half.userId !== passkey.userId) return refusedSigned('other-user', user);
    // Since it was offered: the session would leave out what the code opens.
    if (!who.half.customers.every(({ takesPasskeys }) => takesPasskeys)) return refusedSigned('passkeys-off', user);
  }
  return await deps.sql.begin((sql) => store(deps, sql, { passkey, checked, visitor, purpose }, steps));
}

async function store(
  deps: Deps,
  sql: Connection,
  {
    passkey,
    checked,
    visitor,
    purpose,
  }: {
    passkey: PasskeyToVerify;
    checked: { counter: number; backedUp: boolean };
  } & Pick<PasskeyRequest, 'visitor' | 'purpose'>,
  steps: AuditStep[],
) {
  const { address, requestId } = visitor;
  const now = deps.now();
  const user = await findPasskeyUserForShare(sql, passkey.userId, address);
  if (!user) return new RollBack<Refused>({ kind: 'refused', reason: 'unknown-passkey' });
  const admitting = user.customers.filter(({ admits, passkeys }) => admits && passkeys !== 'off');
  steps.push(...stepsOf(user, address));
  const reason = reasonToRefuse(user, admitting.length);
  if (reason) return new RollBack(refusedSigned(reason, user));
  const used = await updatePasskeyUsed(sql, passkey.id, { ...checked, now });
  if (used !== 'recorded') {
    const [what, why] =
      used === 'gone' ? (['removed', 'unknown-passkey'] as const) : (['used with this count', 'counter-back'] as const);
    steps.push({ step: 'passkey', outcome: `${what} while the answer was checked` });
    return new RollBack(refusedSigned(why, user));
  }
  // A code may have completed the same sign-in meanwhile: one half session becomes one session.
  const halfHash = purpose === 'second-factor' ? visitor.sessionHash : null;
  if (halfHash && !(await isSessionThereForUpdate(sql, halfHash)))
    return new RollBack(refusedSigned('sign-in-over', user));
  const sessionToken = newToken();
  await deleteSessionOfBrowser(sql, visitor.sessionHash);
  await insertSession(sql, {
    tokenHash: tokenHash(sessionToken),
    userId: user.id,
    waitsFor: [],
    // As much as a code beside the password.
    proof: 'passkey',
    provenAt: now,
    customerIds: admitting.map(({ id }) => id),
    address,
    browser: browserName(visitor.userAgent) ?? null,
    passkeyId: passkey.id,
    origin: noProvider,
    now,
    endsAt: new Date(now.getTime() + deps.config.sessionAbsolute),
  });
  const byPassword = purpose === 'second-factor';
  const deviceToken = await noteDevice(sql, user, visitor, { passkey: passkey.name, byPassword, now });
  const { id: userId, username } = user;
  const event = { event: 'signed-in', userId, username, ...customersOfEvent(admitting), address, requestId } as const;
  await insertAuditEvent(sql, { ...event, steps }, now);
  return { kind: 'signedIn' as const, sessionToken, deviceToken };
}

/** Why a right passkey does not open its user's account, or null; `admitting`: how many of their customers take it here. */
export function reasonToRefuse(user: PasskeyUser, admitting: number): PasskeyRefusalReason | null {
  if (!user.active) return 'inactive';
  if (user.customers.length === 0) return 'no-customer';
  if (user.ssoRequired) return 'single-sign-on-required';
  if (user.customers.every(({ passkeys }) => passkeys === 'off')) return 'passkeys-off';
  return admitting === 0 ? 'network' : null;
}

/** The decisions as `vestibule explain` shows them to an operator. */
export function stepsOf({ active, customers }: PasskeyUser, address: string): AuditStep[] {
  return [
    { step: 'active', outcome: active ? 'yes' : 'no' },
    { step: 'customers', outcome: customers.map(({ key }) => key).join(', ') || 'none' },
    ...customers.map(({ key, admits }) => ({
      step: `networks of ${key}`,
      outcome: admits ? `admit ${address}` : `do not admit ${address}`,
    })),
    ...customers.flatMap(({ key, passkeys }) =>
      passkeys === 'off' ? [{ step: `passkeys of ${key}`, outcome: 'off' }] : [],
    ),
  ];
}
