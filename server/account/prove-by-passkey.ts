import type { AuditStep } from '../audit/audit-events.ts';
import type { PasskeyRefusalReason } from '../audit/passkey-reasons.ts';
import type { RelyingParty } from '../config/relying-party.ts';
import type { Deps } from '../deps/deps.ts';
import { takeCeremony } from '../passkeys/ceremony.ts';
import { checkAssertion } from '../passkeys/check-assertion.ts';
import { readAssertion, readClientData } from '../passkeys/read-answer.ts';
import { refusePasskey, waitOfPasskeys } from '../passkeys/refuse-passkey.ts';
import { reasonToRefuse, stepsOf } from '../passkeys/sign-in-by-passkey.ts';
import type { Connection } from '../storage/database.ts';
import { RollBack } from '../storage/database.ts';
import { findPasskeyToVerify, type PasskeyToVerify, updatePasskeyUsed } from '../storage/passkey.ts';
import { findPasskeyUserForShare } from '../storage/passkey-user.ts';
import { type AccountVisit, personForChange } from './account-visit.ts';
import { noteProof } from './note-proof.ts';
import { mayProveByPasskey } from './proof-to-ask.ts';
import type { Outcome } from './section.ts';

type Refused = { kind: 'refused'; reason: PasskeyRefusalReason; isSigned?: true };
type Proven = { kind: 'right'; sessionToken: string } | { kind: 'signedOut' } | Refused;

/**
 * Takes a passkey of the person for a proof: one that would sign them in from here, by the checks of a sign-in. The challenge
 * belongs to this session and browser, and is spent by the first answer.
 */
export async function proveByPasskey(deps: Deps, visit: AccountVisit, answer: string): Promise<Outcome> {
  const rp = deps.config.passkeys;
  if (!rp || !(await mayProveByPasskey(deps, visit))) return { kind: 'refused', notice: 'notPossible' };
  const { visitor, session } = visit;
  const user = { id: session.userId, username: session.username, customers: session.customers.map((key) => ({ key })) };
  const wait = await waitOfPasskeys(deps, visitor, user, 'fresh-proof-refused');
  if (wait) return { kind: 'throttled', retryAfter: wait.retryAfter };
  const steps: AuditStep[] = [];
  const done = await complete(deps, rp, visit, answer, steps);
  if (done.kind === 'right') return { kind: 'done', notice: 'proven', sessionToken: done.sessionToken };
  if (done.kind === 'signedOut') return done;
  const refused = { ...done, event: 'fresh-proof-refused', steps, user } as const;
  const reference = await refusePasskey(deps, visitor, refused);
  return { kind: 'refused', notice: 'passkeyProofRefused', reference };
}

async function complete(
  deps: Deps,
  rp: RelyingParty,
  visit: AccountVisit,
  answer: string,
  steps: AuditStep[],
): Promise<Proven> {
  const assertion = readAssertion(answer);
  const clientData = assertion && readClientData(assertion.clientData);
  if (!assertion || !clientData) return { kind: 'refused', reason: 'malformed' };
  const { passkeyToken: browserToken } = visit.visitor;
  const ceremony = await takeCeremony(deps, clientData, { browserToken, purpose: 'prove' }, steps);
  if (!ceremony) return { kind: 'refused', reason: 'challenge-unknown' };
  // Somebody else may have signed in since.
  if (ceremony.sessionId !== visit.session.id) return { kind: 'refused', reason: 'session-over' };
  const passkey = await findPasskeyToVerify(deps.sql, { credentialId: assertion.credentialId, rpId: rp.id });
  if (!passkey) return { kind: 'refused', reason: 'unknown-passkey' };
  steps.push({ step: 'passkey', outcome: `${passkey.id}, of ${passkey.username}` });
  const checked = await checkAssertion({ assertion, clientData, passkey }, rp, steps);
  if (checked.kind === 'refused') return checked;
  if (passkey.userId !== visit.session.userId) return { kind: 'refused', reason: 'other-user', isSigned: true };
  return await deps.sql.begin((sql) => store(deps, sql, visit, { answer, passkey, checked, steps }));
}

/** All or nothing, by the rules of a sign-in by passkey: what could not open the account proves nothing for it. */
async function store(
  deps: Deps,
  sql: Connection,
  visit: AccountVisit,
  {
    answer,
    passkey,
    checked,
    steps,
  }: { answer: string; passkey: PasskeyToVerify; checked: { counter: number; backedUp: boolean }; steps: AuditStep[] },
): Promise<Proven | RollBack<Proven>> {
  const now = deps.now();
  const { address } = visit.visitor;
  const refused = (reason: PasskeyRefusalReason) => new RollBack<Proven>({ kind: 'refused', reason, isSigned: true });
  if (!(await personForChange(sql, visit))) return new RollBack<Proven>({ kind: 'signedOut' });
  const user = await findPasskeyUserForShare(sql, passkey.userId, address);
  if (!user) return refused('unknown-passkey');
  steps.push(...stepsOf(user, address));
  const admitting = user.customers.filter(({ admits, passkeys }) => admits && passkeys !== 'off');
  const reason = reasonToRefuse(user, admitting.length);
  if (reason) return refused(reason);
  const used = await updatePasskeyUsed(sql, passkey.id, { ...checked, now });
  if (used !== 'recorded') return refused(used === 'gone' ? 'unknown-passkey' : 'counter-back');
  const given = { proof: 'passkey', given: answer, steps } as const;
  return { kind: 'right', sessionToken: await noteProof(deps, sql, visit, given, now) };
}
