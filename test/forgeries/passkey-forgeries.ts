import { randomBytes } from 'node:crypto';
import type { PasskeyRefusalReason } from '#server/audit/audit-events.ts';
import { type CborValue, cbor, flag, newKey, type PasskeyForTest, type Tweak } from '../support/passkey-for-test.ts';

/** An answer that is not honest, why it is refused, and what the steps say of the check. */
type PasskeyForgery = {
  name: string;
  reason: PasskeyRefusalReason;
  says: RegExp | null;
  tweak: (passkey: PasskeyForTest) => Tweak;
};
type Row = [name: string, why: PasskeyRefusalReason | RegExp, tweak: Tweak];

const forgery = ([name, why, tweak]: Row): PasskeyForgery => ({
  name,
  reason: why instanceof RegExp ? 'answer-invalid' : why,
  says: why instanceof RegExp ? why : null,
  tweak: () => tweak,
});

const { present, verified, eligible, backedUp, attested } = flag;
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
  ['our host at another port', /response origin/, { origin: 'http://localhost:8081' }],
  ['our host by another scheme', /response origin/, { origin: 'https://localhost:8080' }],
  ['a host that begins like ours', /response origin/, { origin: 'http://localhost:8080.evil.example' }],
  ['a subdomain of the relying party', /response origin/, { origin: 'http://evil.localhost:8080' }],
  ['an app in place of a page', /response origin/, { origin: 'android:apk-key-hash:x' }],
  ['an origin that is no text', /response origin/, { clientData: { origin: ['http://localhost:8080'] } }],
  ['another type', /response type/, { type: 'payment.get' }],
  ['a frame of another origin', /frame/, { clientData: { crossOrigin: true } }],
  ['a frame that names its page', /frame/, { clientData: { crossOrigin: true, topOrigin: 'https://evil.example' } }],
  ['a page around it, but no frame', /frame/, { clientData: { topOrigin: 'http://localhost:8080' } }],
  ['a challenge that nobody was given', 'challenge-unknown', { challenge: text(randomBytes(32)) }],
  ['a challenge of another length', 'challenge-unknown', { challenge: 'AAAA' }],
  ['no challenge', 'malformed', { clientData: { challenge: undefined } }],
  ['a challenge that is no text', 'malformed', { clientData: { challenge: { length: 43 } } }],
  ['client data that are no JSON', 'malformed', { clientDataBytes: Buffer.from('{"type":') }],
  ['client data that are a list', 'malformed', { clientDataBytes: Buffer.from('[]') }],
  ['client data that are null', 'malformed', { clientDataBytes: Buffer.from('null') }],
  ['client data in another encoding', 'malformed', { clientDataBytes: Buffer.from([0xff, 0xfe, 0x7b, 0]) }],
  ['client data that are no text', 'malformed', inResponse({ clientDataJSON: { length: 3 } })],
  ['a token binding that is none', /oken ?binding/i, { clientData: { tokenBinding: { status: 'x' } } }],
  ['the hash of another relying party', /RP ID/, { rpId: 'evil.example' }],
  ['the hash of a parent of the relying party', /RP ID/, { rpId: 'host' }],
  ['no JSON', 'malformed', { answer: () => '{' }],
  ['an empty answer', 'malformed', { answer: () => '' }],
  ['null', 'malformed', { answer: () => 'null' }],
  ['a list', 'malformed', { answer: (answer) => [answer] }],
  ['no response', 'malformed', { answer: ({ response: _, ...answer }) => answer }],
  ['an id that is no text', 'malformed', { answer: (answer) => ({ ...answer, id: [answer.id], rawId: [answer.id] }) }],
  ['another type of credential', /credential type/, { answer: (answer) => ({ ...answer, type: 'password' }) }],
  ['two different ids', /Credential ID/, { answer: (answer) => ({ ...answer, rawId: 'AAAAAAAAAAAAAAAAAAAAAAAA' }) }],
];

const wrongData = Buffer.alloc(37, 1);

/** Answers to a sign-in. */
export const assertionForgeries = [
  ...ofEither,
  ...([
    ['the answer of an enrolment', /response type/, { type: 'webauthn.create' }],
    ['nobody present', /not present/, { flags: verified }],
    ['nobody verified', /verification required/, { flags: present }],
    ['backed up, but not able to be', /backed up/, { flags: both | backedUp }],
    ['able to be backed up, which it was not', /backed up/, { flags: both | eligible }],
    ['the signature of another key', 'wrong-signature', { signWith: newKey('ES256').privateKey }],
    ['no signature', /./, inResponse({ signature: '' })],
    ['a signature that is a list', /./, inResponse({ signature: ['AAAA'] })],
    ['a signature that is no DER', /./, inResponse({ signature: text(Buffer.alloc(64, 1)) })],
    ['a signature of 2 KB', /./, inResponse({ signature: text(Buffer.alloc(2048, 1)) })],
    ['data of another authenticator', /RP ID/, inResponse({ authenticatorData: text(wrongData) })],
    ['data of 20 bytes', /37/, inResponse({ authenticatorData: text(wrongData.subarray(0, 20)) })],
    ['data that are a number', /./, inResponse({ authenticatorData: 7 })],
    ['a passkey that nobody has', 'unknown-passkey', { credentialId: randomBytes(32) }],
    ['an empty id', 'unknown-passkey', { credentialId: Buffer.alloc(0) }],
    ['an id of 4000 bytes', 'unknown-passkey', { credentialId: randomBytes(4000) }],
    ['no user', 'other-user', { userHandle: null }],
    ['another user', 'other-user', { userHandle: randomBytes(16) }],
    ['a user that is no text', 'other-user', inResponse({ userHandle: { length: 22 } })],
    ['a count that goes back', 'counter-back', { counter: 3 }],
    ['a count that stays', 'counter-back', { counter: 7 }],
    ['a count that is lost', 'counter-back', { counter: 0 }],
    ['bytes after the end', /Leftover/, { trailing: Buffer.from([0]) }],
    ['extensions that are not there', /./, { flags: both | flag.extensions }],
    ['extensions and something after them', /Leftover/, { extensions: Buffer.from('a000', 'hex') }],
    ['extensions nested 8000 deep', /./, { extensions: nested }],
    ['extensions with four billion parts', /./, { extensions: endless }],
    ['a new key that is announced and missing', /./, { flags: both | attested }],
  ] as Row[]),
].map(forgery);

const rs1 = new Map<number, CborValue>([
  [1, 3],
  [3, -65535],
  [-1, randomBytes(256)],
  [-2, Buffer.from([1, 0, 1])],
]);
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
    ['no new key', /./, { flags: both }],
    ['ES384, which was not offered', /public key alg/, { publicKey: of([3, -35]) }],
    ['RS1, which was not offered', /public key alg/, { publicKey: rs1 }],
    ['no algorithm', /missing numeric alg/, { publicKey: new Map([[1, 2]]) }],
    ['an id of eight bytes', /16 to 1023/, { credentialId: randomBytes(8) }],
    ['an id of 1100 bytes', /16 to 1023/, { credentialId: randomBytes(1100) }],
    ['a key that is a text', /./, { publicKey: 'key' }],
    ['a key nested 8000 deep', /./, { publicKey: nested }],
    ['a key with four billion parts', /./, { publicKey: endless }],
    ['an attestation of a TPM', /Attestation tpm/, { fmt: 'tpm', attStmt: statement(['ver', '2.0']) }],
    ['an attestation of U2F', /Attestation fido-u2f/, { fmt: 'fido-u2f', attStmt: statement(...signature) }],
    ['an attestation of Apple', /Attestation apple/, { fmt: 'apple', attStmt: statement(['x5c', [randomBytes(9)]]) }],
    [
      'an attestation by no certificate',
      /./,
      {
        fmt: 'packed',
        attStmt: statement(...signature, ['x5c', [randomBytes(300)]]),
      },
    ],
    ['an attestation by itself with a wrong signature', /./, { fmt: 'packed', attStmt: statement(...signature) }],
    ['none, with a statement', /None attestation/, { attStmt: statement(['x', 1]) }],
    ['extensions that are cut', /./, { extensions: Buffer.from('a1', 'hex') }],
    ['an object that is no text', /./, inResponse({ attestationObject: [1] })],
    ['an object that is a list', /./, inResponse({ attestationObject: text(Buffer.from('80', 'hex')) })],
    ['an object that is a bomb', /./, inResponse({ attestationObject: text(nested) })],
    ['an object with four billion parts', /./, inResponse({ attestationObject: text(endless) })],
    [
      'an object whose data are a text',
      /./,
      inResponse({
        attestationObject: text(cbor(statement(['fmt', 'none'], ['attStmt', new Map()], ['authData', 'x'.repeat(99)]))),
      }),
    ],
  ] as Row[]),
].map(forgery);
