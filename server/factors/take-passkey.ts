import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { AuditStep, RefusalReason } from '../audit/audit-events.ts';
import type { RelyingParty } from '../config/public-url.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { findPasskeyUserForShare, type PasskeyUser, stepsOfUser } from '../people/sign-in-user.ts';
import { findPasskeyToVerify, type NewPasskey, type PasskeyToVerify, updatePasskeyUsed } from './passkey.ts';
import type { RefusedUser } from './passkey-ceremony.ts';
import { type Ceremony, offeredAlgorithms, takeChallenge, userHandleOf } from './passkey-ceremony.ts';

type TakenPasskey = {
  kind: 'taken';
  passkey: { id: string; name: string };
  user: PasskeyUser;
  /** Their customers that take passkeys and admit the address. */
  admitting: PasskeyUser['customers'];
};
export type RefusedPasskey = {
  kind: 'refused';
  reason: RefusalReason;
  user?: RefusedUser;
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
  if (!passkey) return { kind: 'refused', reason: 'unknown-passkey' };
  steps.push({ step: 'passkey', outcome: `${passkey.id}, of ${passkey.username}` });
  const owner = { id: passkey.userId, username: passkey.username };
  const checked = await checkAssertion(assertion, passkey, rp, steps);
  if (checked.kind === 'refused') return { ...checked, user: owner };
  if (userId !== undefined && userId !== passkey.userId) return { kind: 'refused', reason: 'other-user', user: owner };

  const user = await findPasskeyUserForShare(sql, passkey.userId, address);
  if (!user) return { kind: 'refused', reason: 'unknown-passkey' };
  const admitting = user.customers.filter(({ admits, passkeys }) => admits && passkeys !== 'off');
  const off = user.customers.filter(({ passkeys }) => passkeys === 'off');
  steps.push(...stepsOfUser(user, address), ...off.map(({ key }) => ({ step: `passkeys of ${key}`, outcome: 'off' })));
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
function reasonToRefuse(user: PasskeyUser, admitting: number): RefusalReason | null {
  if (!user.active) return 'inactive';
  if (user.customers.length === 0) return 'no-customer';
  if (user.ssoRequired) return 'single-sign-on-required';
  if (user.customers.every(({ passkeys }) => passkeys === 'off')) return 'passkeys-off';
  return admitting === 0 ? 'network' : null;
}

/** The library of ceremonies, loaded by the first: it takes a quarter of a start's time and memory. */
const loadWebAuthn = () => Promise.all([import('@simplewebauthn/server'), import('@simplewebauthn/server/helpers')]);

/** What a browser says of a ceremony (Web Authentication Level 3, §5.8.1), as far as it is read here. */
type ClientData = { challenge: string; crossOrigin?: boolean; topOrigin?: string };
type Answer<Json> = { json: Json; clientData: ClientData };
export type Assertion = Answer<AuthenticationResponseJSON>;
type Enrolment = Answer<RegistrationResponseJSON>;

/** Reads the answer of an authenticator (§5.1, `toJSON`) as far as its challenge; null if it has none. The library reads the rest. */
function readAnswer<Json extends Assertion['json'] | Enrolment['json']>(text: string): Answer<Json> | null {
  try {
    const json = JSON.parse(text) as Json;
    const clientData: ClientData = JSON.parse(Buffer.from(json.response.clientDataJSON, 'base64url').toString());
    return typeof json.id === 'string' && typeof clientData.challenge === 'string' ? { json, clientData } : null;
  } catch {
    return null;
  }
}

type Refused = { kind: 'refused'; reason: RefusalReason };

/**
 * Checks an assertion (§7.2) whose challenge has been taken. The library leaves out three things: a frame of another origin whose
 * page the browser does not name, the user that the authenticator names, and whether the passkey may be backed up as before.
 */
async function checkAssertion(
  { json, clientData }: Assertion,
  passkey: PasskeyToVerify,
  { id, origin }: RelyingParty,
  steps: AuditStep[],
): Promise<{ kind: 'right'; counter: number; backedUp: boolean } | Refused> {
  const [{ verifyAuthenticationResponse }] = await loadWebAuthn();
  try {
    refuseFrame(clientData);
    if (json.response.userHandle !== userHandleOf(passkey.userId)) return { kind: 'refused', reason: 'other-user' };
    const { verified, authenticationInfo: info } = await verifyAuthenticationResponse({
      response: json,
      expectedChallenge: clientData.challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      // Below any: an unsigned count says nothing, and the statement that records the use compares it.
      credential: { id: json.id, publicKey: new Uint8Array(passkey.publicKey), counter: -1 },
    });
    if (!verified) return { kind: 'refused', reason: 'wrong-signature' };
    if ((info.credentialDeviceType === 'multiDevice') !== passkey.backupEligible)
      throw new Error('The passkey may be backed up, which it was not, or the reverse');
    steps.push({ step: 'signature', outcome: 'right' });
    return { kind: 'right', counter: info.newCounter, backedUp: info.credentialBackedUp };
  } catch (error) {
    return invalid(error, steps);
  }
}

/** How a browser reaches an authenticator (§5.8.4); others are ignored. */
const knownTransports = ['usb', 'nfc', 'ble', 'smart-card', 'hybrid', 'internal'] as const;

export type EnrolledKey = Pick<
  NewPasskey,
  'credentialId' | 'publicKey' | 'counter' | 'backupEligible' | 'backedUp' | 'aaguid' | 'transports'
>;

/** Checks an enrolment (§7.1) whose challenge has been taken. No attestation is asked for, and no certificate looked up. */
async function checkEnrolment(
  { json, clientData }: Enrolment,
  { id, origin }: RelyingParty,
  steps: AuditStep[],
): Promise<{ kind: 'right'; key: EnrolledKey } | Refused> {
  const [{ verifyRegistrationResponse }, { decodeAttestationObject, isoBase64URL }] = await loadWebAuthn();
  try {
    refuseFrame(clientData);
    const format = decodeAttestationObject(isoBase64URL.toBuffer(json.response.attestationObject)).get('fmt');
    if (format !== 'none' && format !== 'packed') throw new Error(`Attestation ${format}, which nobody asked for`);
    const { verified, registrationInfo: info } = await verifyRegistrationResponse({
      response: json,
      expectedChallenge: clientData.challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      supportedAlgorithmIDs: [...offeredAlgorithms],
    });
    if (!verified) throw new Error('Attestation with a wrong signature');
    const credentialId = Buffer.from(info.credential.id, 'base64url');
    if (credentialId.length < 16 || credentialId.length > 1023) throw new Error('Credential ID of 16 to 1023 bytes');
    const given: unknown = json.response.transports;
    const key = {
      credentialId,
      publicKey: Buffer.from(info.credential.publicKey),
      counter: info.credential.counter,
      backupEligible: info.credentialDeviceType === 'multiDevice',
      backedUp: info.credentialBackedUp,
      aaguid: info.aaguid,
      transports: Array.isArray(given) ? knownTransports.filter((transport) => given.includes(transport)) : [],
    };
    return { kind: 'right', key };
  } catch (error) {
    return invalid(error, steps);
  }
}

/** No page of ours is framed (frame-ancestors), so nobody's passkey is asked for in a frame. */
function refuseFrame({ crossOrigin, topOrigin }: ClientData): void {
  if (crossOrigin || topOrigin !== undefined) throw new Error('Made in a frame on a page of another origin');
}

/** The steps have the library's own words, of which an answer may have put some there. */
function invalid(error: unknown, steps: AuditStep[]): Refused {
  const words = error instanceof Error ? error.message : 'unknown';
  steps.push({ step: 'check', outcome: words.slice(0, 200).replace(/[^\x20-\x7e]/g, '?') });
  return { kind: 'refused', reason: 'answer-invalid' };
}
