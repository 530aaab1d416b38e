import { randomBytes } from 'node:crypto';
import type { RefusalReason } from '#server/audit/audit-events.ts';
import { type CborValue, flag, newKey, type PasskeyForTest, type Tweak } from '../support/passkey-for-test.ts';

/** An answer that is not honest, why it is refused, and what the steps say of the check. */
type PasskeyForgery = {
  name: string;
  reason: RefusalReason;
  says: RegExp | null;
  tweak: (passkey: PasskeyForTest) => Tweak;
};
type Row = [name: string, why: RefusalReason | RegExp, tweak: Tweak];

const forgery = ([name, why, tweak]: Row): PasskeyForgery => ({
  name,
  reason: why instanceof RegExp ? 'answer-invalid' : why,
  says: why instanceof RegExp ? why : null,
  tweak: () => tweak,
});

const { present, verified, backedUp, attested } = flag;
const both = present | verified;
const inResponse = (changed: Record<string, unknown>): Tweak => ({
  answer: (answer) => ({ ...answer, response: { ...answer.response, ...changed } }),
});
/** Arrays inside each other, and what claims to have four billion parts. */
const nested = Buffer.concat([Buffer.alloc(8000, 0x81), Buffer.from([0])]);
const endless = Buffer.from('9affffffff', 'hex');
const text = (bytes: Buffer) => bytes.toString('base64url');

/** What the client data or the shape of either ceremony can get wrong. */
const ofEither: Row[] = [
  ['another origin', /response origin/, { origin: 'https://evil.example' }],
  ['a host that begins like ours', /response origin/, { origin: 'http://localhost:8080.evil.example' }],
  ['another type', /response type/, { type: 'payment.get' }],
  ['a frame of another origin', /frame/, { clientData: { crossOrigin: true } }],
  ['a challenge that nobody was given', 'challenge-unknown', { challenge: text(randomBytes(32)) }],
  ['no challenge', 'malformed', { clientData: { challenge: undefined } }],
  ['client data that are no JSON', 'malformed', { clientDataBytes: Buffer.from('{"type":') }],
  ['client data that are no text', 'malformed', inResponse({ clientDataJSON: { length: 3 } })],
  ['the hash of another relying party', /RP ID/, { rpId: 'evil.example' }],
  ['no JSON', 'malformed', { answer: () => '{' }],
  ['an id that is no text', 'malformed', { answer: (answer) => ({ ...answer, id: [answer.id], rawId: [answer.id] }) }],
  ['two different ids', /Credential ID/, { answer: (answer) => ({ ...answer, rawId: 'AAAAAAAAAAAAAAAAAAAAAAAA' }) }],
];

/** Answers to a sign-in. */
export const assertionForgeries = [
  ...ofEither,
  ...([
    ['the answer of an enrolment', /response type/, { type: 'webauthn.create' }],
    ['nobody present', /not present/, { flags: verified }],
    ['nobody verified', /verification required/, { flags: present }],
    ['backed up, but not able to be', /backed up/, { flags: both | backedUp }],
    ['the signature of another key', 'wrong-signature', { signWith: newKey('ES256').privateKey }],
    ['a signature that is a list', /./, inResponse({ signature: ['AAAA'] })],
    ['data of 20 bytes', /37/, inResponse({ authenticatorData: text(Buffer.alloc(20, 1)) })],
    ['a passkey that nobody has', 'unknown-passkey', { credentialId: randomBytes(32) }],
    ['no user', 'other-user', { userHandle: null }],
    ['another user', 'other-user', { userHandle: randomBytes(16) }],
    ['a count that goes back', 'counter-back', { counter: 3 }],
    ['bytes after the end', /Leftover/, { trailing: Buffer.from([0]) }],
    ['extensions nested 8000 deep', /./, { extensions: nested }],
    ['extensions with four billion parts', /./, { extensions: endless }],
  ] as Row[]),
].map(forgery);

const of = (changed: [number, CborValue]) => new Map([...newKey('ES256').publicKey, changed]);
const statement = (...parts: [string, CborValue][]) => new Map<string, CborValue>(parts);
const signature: [string, CborValue][] = [
  ['alg', -7],
  ['sig', randomBytes(70)],
];

/** Answers to an enrolment. */
export const enrolmentForgeries = [
  ...ofEither,
  ...([
    ['the answer of a sign-in', /response type/, { type: 'webauthn.get' }],
    ['nobody present', /not present/, { flags: verified | attested }],
    ['nobody verified', /could not be verified/, { flags: present | attested }],
    ['backed up, but not able to be', /backed up/, { flags: both | attested | backedUp }],
    ['ES384, which was not offered', /public key alg/, { publicKey: of([3, -35]) }],
    ['an id of eight bytes', /16 to 1023/, { credentialId: randomBytes(8) }],
    ['an id of 1100 bytes', /16 to 1023/, { credentialId: randomBytes(1100) }],
    ['a key nested 8000 deep', /./, { publicKey: nested }],
    ['a key with four billion parts', /./, { publicKey: endless }],
    ['an attestation of a TPM', /Attestation tpm/, { fmt: 'tpm', attStmt: statement(['ver', '2.0']) }],
    [
      'an attestation by no certificate',
      /./,
      { fmt: 'packed', attStmt: statement(...signature, ['x5c', [randomBytes(300)]]) },
    ],
    ['an object that is no text', /./, inResponse({ attestationObject: [1] })],
    ['an object that is a bomb', /./, inResponse({ attestationObject: text(nested) })],
  ] as Row[]),
].map(forgery);
