import { randomBytes } from 'node:crypto';
import type { PasskeyRefusalReason } from '#server/audit/passkey-reasons.ts';
import { type CborValue, cbor } from './cbor-for-test.ts';
import { flag, newKey, type PasskeyForTest, type Tweak } from './passkey-for-test.ts';

/** An answer that is not honest, and why it is refused. */
export type PasskeyForgery = {
  name: string;
  reason: PasskeyRefusalReason;
  tweak: (passkey: PasskeyForTest) => Tweak;
};

const { present, verified, eligible, backedUp, attested } = flag;
const both = present | verified;
const forgery = (
  name: string,
  reason: PasskeyRefusalReason,
  tweak: Tweak | PasskeyForgery['tweak'],
): PasskeyForgery => ({
  name,
  reason,
  tweak: typeof tweak === 'function' ? tweak : () => tweak,
});

const inResponse =
  (change: (response: Record<string, unknown>) => void): NonNullable<Tweak['answer']> =>
  (answer) => {
    change(answer.response);
    return answer;
  };

/** Arrays inside each other, and what claims to have four billion parts. */
const nested = Buffer.concat([Buffer.alloc(900, 0x81), Buffer.from([0])]);
const endless = Buffer.from('9affffffff', 'hex');

/** What the client data or the shape of either ceremony can get wrong. */
const ofEither: PasskeyForgery[] = [
  forgery('another origin', 'wrong-origin', { origin: 'https://evil.example' }),
  forgery('our host at another port', 'wrong-origin', { origin: 'http://localhost:8081' }),
  forgery('our host by another scheme', 'wrong-origin', { origin: 'https://localhost:8080' }),
  forgery('a host that begins like ours', 'wrong-origin', { origin: 'http://localhost:8080.evil.example' }),
  forgery('a subdomain of the relying party', 'wrong-origin', { origin: 'http://evil.localhost:8080' }),
  forgery('an app in place of a page', 'wrong-origin', { origin: 'android:apk-key-hash:x' }),
  forgery('an origin that is no text', 'wrong-origin', { clientData: { origin: ['http://localhost:8080'] } }),
  forgery('another type', 'wrong-type', { type: 'payment.get' }),
  forgery('a frame of another origin', 'cross-origin', { clientData: { crossOrigin: true } }),
  forgery('a frame that names its page', 'cross-origin', {
    clientData: { crossOrigin: true, topOrigin: 'https://evil.example' },
  }),
  forgery('a page around it, but no frame', 'cross-origin', { clientData: { topOrigin: 'http://localhost:8080' } }),
  forgery('a challenge that nobody was given', 'challenge-unknown', {
    challenge: randomBytes(32).toString('base64url'),
  }),
  forgery('a challenge of another length', 'malformed', { challenge: 'AAAA' }),
  forgery('no challenge', 'malformed', { clientData: { challenge: undefined } }),
  forgery('client data that are no JSON', 'malformed', { clientDataBytes: Buffer.from('{"type":') }),
  forgery('client data that are a list', 'malformed', { clientDataBytes: Buffer.from('[]') }),
  forgery('client data in another encoding', 'malformed', { clientDataBytes: Buffer.from([0xff, 0xfe, 0x7b, 0]) }),
  forgery('client data of 3 KB', 'malformed', { clientData: { more: 'x'.repeat(3000) } }),
  forgery('the hash of another relying party', 'wrong-relying-party', { rpId: 'evil.example' }),
  forgery('the hash of a parent of the relying party', 'wrong-relying-party', { rpId: 'host' }),
  forgery('backed up, but not able to be', 'backup-flags', (passkey) => ({
    flags: both | backedUp | (passkey.counter === -1 ? attested : 0),
  })),
  forgery('no JSON', 'malformed', { answer: () => '{' }),
  forgery('an empty answer', 'malformed', { answer: () => '' }),
  forgery('null', 'malformed', { answer: () => 'null' }),
  forgery('another type of credential', 'malformed', { answer: (answer) => ({ ...answer, type: 'password' }) }),
  forgery('two different ids', 'malformed', { answer: (answer) => ({ ...answer, rawId: 'AAAAAAAAAAAAAAAAAAAAAAAA' }) }),
  forgery('an id in another spelling', 'malformed', {
    answer: (answer) => ({ ...answer, id: `${answer.id}=`, rawId: `${answer.id}=` }),
  }),
  forgery('no response', 'malformed', { answer: ({ response: _, ...answer }) => answer }),
  forgery('client data that are no text', 'malformed', {
    answer: inResponse((response) => {
      response.clientDataJSON = { length: 3 };
    }),
  }),
];

/** Answers to a sign-in. */
export const assertionForgeries: PasskeyForgery[] = [
  ...ofEither,
  forgery('the answer of an enrolment', 'wrong-type', { type: 'webauthn.create' }),
  forgery('nobody present', 'not-present', { flags: verified }),
  forgery('nobody verified', 'not-verified', { flags: present }),
  forgery('able to be backed up, which it was not', 'backup-flags', { flags: both | eligible }),
  forgery('the signature of another key', 'wrong-signature', { signWith: newKey('ES256').privateKey }),
  forgery('a signature of other data', 'wrong-signature', {
    answer: inResponse((response) => {
      const data = Buffer.from(String(response.authenticatorData), 'base64url');
      data.writeUInt32BE(99, 33);
      response.authenticatorData = data.toString('base64url');
    }),
  }),
  forgery('no signature', 'malformed', {
    answer: inResponse((response) => {
      response.signature = '';
    }),
  }),
  forgery('a signature that is no DER', 'answer-invalid', {
    answer: inResponse((response) => {
      response.signature = Buffer.alloc(64, 1).toString('base64url');
    }),
  }),
  forgery('a signature of 2 KB', 'malformed', {
    answer: inResponse((response) => {
      response.signature = Buffer.alloc(2048, 1).toString('base64url');
    }),
  }),
  forgery('a passkey that nobody has', 'unknown-passkey', { credentialId: randomBytes(32) }),
  forgery('an id of eight bytes', 'malformed', { credentialId: randomBytes(8) }),
  forgery('an id of 1100 bytes', 'malformed', { credentialId: randomBytes(1100) }),
  forgery('no user', 'malformed', { userHandle: null }),
  forgery('an empty user', 'malformed', { userHandle: Buffer.alloc(0) }),
  forgery('another user', 'other-user', { userHandle: randomBytes(16) }),
  forgery('a user of 100 bytes', 'malformed', { userHandle: randomBytes(100) }),
  forgery('a count that goes back', 'counter-back', { counter: 3 }),
  forgery('a count that stays', 'counter-back', { counter: 7 }),
  forgery('a count that is lost', 'counter-back', { counter: 0 }),
  forgery('bytes after the end', 'malformed', { trailing: Buffer.from([0]) }),
  forgery('extensions that are not there', 'malformed', { flags: both | flag.extensions }),
  forgery('extensions and something after them', 'malformed', { extensions: Buffer.from('a000', 'hex') }),
  forgery('extensions nested 900 deep', 'malformed', { extensions: nested }),
  forgery('extensions with four billion parts', 'malformed', { extensions: endless }),
  forgery('extensions of indefinite length', 'malformed', { extensions: Buffer.from('bfff', 'hex') }),
  forgery('a new key that is announced and missing', 'malformed', { flags: both | attested }),
  forgery('a new key in an assertion', 'malformed', {
    flags: both | attested,
    trailing: Buffer.concat([
      Buffer.alloc(17),
      Buffer.from([16]),
      Buffer.alloc(16, 1),
      cbor(newKey('ES256').publicKey),
    ]),
  }),
  forgery('extensions of 3 KB', 'malformed', { extensions: cbor(new Map([['x', Buffer.alloc(3000)]])) }),
  forgery('extensions with a number that is not whole', 'malformed', { extensions: Buffer.from('f97e00', 'hex') }),
  forgery('extensions of 200 parts', 'malformed', { extensions: cbor(Array<number>(200).fill(0)) }),
  forgery('extensions nested six deep', 'malformed', { extensions: Buffer.from('818181818180', 'hex') }),
  forgery('extensions with a tag', 'malformed', { extensions: Buffer.from('c1a0a0', 'hex') }),
  forgery('data of 20 bytes', 'malformed', {
    answer: inResponse((response) => {
      response.authenticatorData = Buffer.alloc(20, 1).toString('base64url');
    }),
  }),
];

const rsa = (n: Buffer, e: Buffer) =>
  new Map<number, CborValue>([
    [1, 3],
    [3, -257],
    [-1, n],
    [-2, e],
  ]);
const ec = (curve: number, x: Buffer, y: Buffer, alg = -7) =>
  new Map<number, CborValue>([
    [1, 2],
    [3, alg],
    [-1, curve],
    [-2, x],
    [-3, y],
  ]);
const ed25519 = newKey('EdDSA').publicKey.get(-2) as Buffer;
const okp = ({ type = 1, curve = 6, point = ed25519 as CborValue }) =>
  new Map<number, CborValue>([
    [1, type],
    [3, -8],
    [-1, curve],
    [-2, point],
  ]);
const point = newKey('ES256').publicKey;
const [x, y] = [point.get(-2) as Buffer, point.get(-3) as Buffer];

/** Answers to an enrolment. */
export const enrolmentForgeries: PasskeyForgery[] = [
  ...ofEither.filter(({ reason }) => reason !== 'backup-flags'),
  forgery('backed up, but not able to be', 'backup-flags', { flags: both | attested | backedUp }),
  forgery('the answer of a sign-in', 'wrong-type', { type: 'webauthn.get' }),
  forgery('nobody present', 'not-present', { flags: verified | attested }),
  forgery('nobody verified', 'not-verified', { flags: present | attested }),
  forgery('no new key', 'malformed', { flags: both }),
  forgery('an id other than the one inside', 'malformed', { credentialId: randomBytes(32) }),
  forgery('ES384, which was not offered', 'algorithm-not-offered', { publicKey: ec(2, Buffer.alloc(48, 1), y, -35) }),
  forgery('RS1, which was not offered', 'algorithm-not-offered', {
    publicKey: new Map<number, CborValue>([
      [1, 3],
      [3, -65535],
      [-1, randomBytes(256)],
      [-2, Buffer.from([1, 0, 1])],
    ]),
  }),
  forgery('no algorithm', 'algorithm-not-offered', { publicKey: new Map<number, CborValue>([[1, 2]]) }),
  forgery('ES256 on another curve', 'key-unusable', { publicKey: ec(2, x, y) }),
  forgery('a point that is not on the curve', 'key-unusable', { publicKey: ec(1, x, Buffer.alloc(32, 9)) }),
  forgery('a coordinate with a zero before it', 'key-unusable', {
    publicKey: ec(1, Buffer.concat([Buffer.alloc(1), x]), y),
  }),
  forgery('a second coordinate with a zero before it', 'key-unusable', {
    publicKey: ec(1, x, Buffer.concat([Buffer.alloc(1), y])),
  }),
  forgery('ES256 with the type of another key', 'key-unusable', { publicKey: new Map([...ec(1, x, y), [1, 1]]) }),
  forgery('EdDSA with the type of another key', 'key-unusable', { publicKey: okp({ type: 2 }) }),
  forgery('EdDSA on another curve', 'key-unusable', { publicKey: okp({ curve: 7 }) }),
  forgery('EdDSA with a text for a point', 'key-unusable', { publicKey: okp({ point: 'A'.repeat(32) }) }),
  forgery('RSA with the type of another key', 'key-unusable', {
    publicKey: new Map([...rsa(randomBytes(256).fill(0xff, 0, 1), Buffer.from([1, 0, 1])), [1, 2]]),
  }),
  forgery('an exponent with a zero before it', 'key-unusable', {
    publicKey: rsa(randomBytes(256).fill(0xff, 0, 1), Buffer.from([0, 1, 0, 1])),
  }),
  forgery('half a point', 'key-unusable', { publicKey: ec(1, x.subarray(0, 16), y) }),
  forgery('RSA of 1024 bits', 'key-unusable', {
    publicKey: rsa(randomBytes(128).fill(0xff, 0, 1), Buffer.from([1, 0, 1])),
  }),
  forgery('RSA of 8192 bits', 'key-unusable', {
    publicKey: rsa(randomBytes(1024).fill(0xff, 0, 1), Buffer.from([1, 0, 1])),
  }),
  forgery('RSA with the exponent 3', 'key-unusable', {
    publicKey: rsa(randomBytes(256).fill(0xff, 0, 1), Buffer.from([0, 0, 3])),
  }),
  forgery('a key of 3 KB', 'malformed', { publicKey: new Map([...ec(1, x, y), [-70000, Buffer.alloc(3000)]]) }),
  forgery('a key with a part that no key has', 'key-unusable', {
    publicKey: new Map([...ec(1, x, y), [2, Buffer.alloc(9)]]),
  }),
  forgery('a key that is a text', 'key-unusable', { publicKey: 'key' }),
  forgery('a key nested 900 deep', 'malformed', { publicKey: nested }),
  forgery('a key with four billion parts', 'malformed', { publicKey: endless }),
  forgery('a key with a label twice', 'key-unusable', {
    publicKey: Buffer.concat([Buffer.from([0xa5]), cbor(ec(1, x, y)).subarray(1, -35), cbor(1), cbor(2)]),
  }),
  forgery('an attestation by certificates', 'attestation', {
    fmt: 'packed',
    attStmt: new Map<string, CborValue>([
      ['alg', -7],
      ['sig', randomBytes(70)],
      ['x5c', [randomBytes(300)]],
    ]),
  }),
  forgery('an attestation by itself with a wrong signature', 'answer-invalid', {
    fmt: 'packed',
    attStmt: new Map<string, CborValue>([
      ['alg', -7],
      ['sig', randomBytes(70)],
    ]),
  }),
  forgery('an attestation of a TPM', 'attestation', { fmt: 'tpm', attStmt: new Map([['ver', '2.0']]) }),
  forgery('an attestation of U2F', 'attestation', { fmt: 'fido-u2f', attStmt: new Map([['sig', randomBytes(70)]]) }),
  forgery('an attestation of Android', 'attestation', { fmt: 'android-safetynet', attStmt: new Map([['ver', '1']]) }),
  forgery('none, with a statement', 'attestation', { attStmt: new Map([['x', 1]]) }),
  forgery('bytes after the end', 'malformed', { trailing: Buffer.from([0]) }),
  forgery('an object of 8 KB', 'malformed', {
    extensions: cbor(new Map([['x', Buffer.alloc(8000)]])),
  }),
  forgery('extensions with a number that is not whole', 'malformed', { extensions: Buffer.from('f97e00', 'hex') }),
  forgery('extensions that are cut', 'malformed', { extensions: Buffer.from('a1', 'hex') }),
  forgery('an object that is a bomb', 'malformed', {
    answer: inResponse((response) => {
      response.attestationObject = nested.toString('base64url');
    }),
  }),
  forgery('an object with four billion parts', 'malformed', {
    answer: inResponse((response) => {
      response.attestationObject = Buffer.from('baffffffff', 'hex').toString('base64url');
    }),
  }),
];
