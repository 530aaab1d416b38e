import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { AuditStep } from '../audit/audit-events.ts';
import type { PasskeyRefusalReason } from '../audit/passkey-reasons.ts';
import type { RelyingParty } from '../config/relying-party.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { findPasskeyUserForShare, type PasskeyUser } from '../people/passkey-user.ts';
import { type Ceremony, takeChallenge } from './ceremony.ts';
import { checkAssertion, checkEnrolment, readAnswer } from './check-answer.ts';
import { findPasskeyToVerify, updatePasskeyUsed } from './passkey.ts';
import type { RefusedUser } from './refuse-passkey.ts';

type TakenPasskey = {
  kind: 'taken';
  passkey: { id: string; name: string };
  user: PasskeyUser;
  /** Their customers that take passkeys and admit the address. */
  admitting: PasskeyUser['customers'];
};
export type RefusedPasskey = {
  kind: 'refused';
  reason: PasskeyRefusalReason;
  user?: RefusedUser;
  /** The id of a passkey that nobody has. */
  unknownPasskey?: string;
};

/**
 * Takes the answer of a passkey, by the rules of every way in: the challenge, which the first answer spends, right or wrong; the
 * signature; the account; the count. In the transaction of what it opens, which a refusal must not roll back. `userId`: whose it
 * has to be, whom the caller has locked.
 */
export async function takePasskey(
  deps: Pick<Deps, 'now' | 'config'>,
  sql: Connection,
  { answer, address, userId, ...ceremony }: Ceremony & { answer: string; address: string; userId?: string },
  steps: AuditStep[],
): Promise<TakenPasskey | RefusedPasskey> {
  const rp = deps.config.passkeys;
  const assertion = readAnswer<AuthenticationResponseJSON>(answer);
  if (!rp || !assertion) return { kind: 'refused', reason: 'malformed' };
  const { challenge } = assertion.clientData;
  if (!(await takeChallenge(deps, sql, ceremony, challenge, steps)))
    return { kind: 'refused', reason: 'challenge-unknown' };
  const credentialId = Buffer.from(assertion.json.id, 'base64url');
  const passkey = await findPasskeyToVerify(sql, { credentialId, rpId: rp.id });
  if (!passkey)
    return { kind: 'refused', reason: 'unknown-passkey', unknownPasskey: credentialId.toString('base64url') };
  steps.push({ step: 'passkey', outcome: `${passkey.id}, of ${passkey.username}` });
  const owner = { id: passkey.userId, username: passkey.username };
  const checked = await checkAssertion(assertion, passkey, rp, steps);
  if (checked.kind === 'refused') return { ...checked, user: owner };
  if (userId !== undefined && userId !== passkey.userId) return { kind: 'refused', reason: 'other-user', user: owner };

  const user = await findPasskeyUserForShare(sql, passkey.userId, address);
  if (!user) return { kind: 'refused', reason: 'unknown-passkey' };
  const admitting = user.customers.filter(({ admits, passkeys }) => admits && passkeys !== 'off');
  steps.push(...stepsOf(user, address));
  const reason = reasonToRefuse(user, admitting.length);
  if (reason) return { kind: 'refused', reason, user };
  const used = await updatePasskeyUsed(sql, passkey.id, { ...checked, now: deps.now() });
  if (used === 'recorded') return { kind: 'taken', passkey, user, admitting };
  return { kind: 'refused', reason: used === 'gone' ? 'unknown-passkey' : 'counter-back', user };
}

/** Takes the challenge of an enrolment, which the first answer spends, and checks the answer. */
export async function takeEnrolment(
  deps: Deps,
  rp: RelyingParty,
  { answer, ...ceremony }: Ceremony & { answer: string },
  steps: AuditStep[],
): ReturnType<typeof checkEnrolment> {
  const enrolment = readAnswer<RegistrationResponseJSON>(answer);
  if (!enrolment) return { kind: 'refused', reason: 'malformed' };
  if (!(await takeChallenge(deps, deps.sql, ceremony, enrolment.clientData.challenge, steps)))
    return { kind: 'refused', reason: 'challenge-unknown' };
  return await checkEnrolment(enrolment, rp, steps);
}

/** Why a right passkey does not open its user's account, or null; `admitting`: how many of their customers take it here. */
function reasonToRefuse(user: PasskeyUser, admitting: number): PasskeyRefusalReason | null {
  if (!user.active) return 'inactive';
  if (user.customers.length === 0) return 'no-customer';
  if (user.ssoRequired) return 'single-sign-on-required';
  if (user.customers.every(({ passkeys }) => passkeys === 'off')) return 'passkeys-off';
  return admitting === 0 ? 'network' : null;
}

/** The decisions as `vestibule explain` shows them to an operator. */
function stepsOf({ active, customers }: PasskeyUser, address: string): AuditStep[] {
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
