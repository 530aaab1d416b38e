import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export type PasskeyAlgorithm = 'ES256' | 'EdDSA' | 'RS256';

/** A passkey in an authenticator made of software, which does whatever a test wants. */
export type PasskeyForTest = {
  credentialId: Buffer;
  userHandle: Buffer;
  rpId: string;
  privateKey: KeyObject;
  publicKey: Map<number | string, CborValue>;
  algorithm: PasskeyAlgorithm;
  aaguid: Buffer;
  counter: number;
};

/** What an answer says differently from an honest one. */
export type Tweak = {
  type?: string;
  challenge?: string;
  origin?: string;
  /** Added to the client data. */
  clientData?: Record<string, unknown>;
  /** Instead of the client data. */
  clientDataBytes?: Buffer;
  rpId?: string;
  flags?: number;
  counter?: number;
  /** After the head of the authenticator data, with the flag that announces it. */
  extensions?: Buffer;
  /** After everything. */
  trailing?: Buffer;
  credentialId?: Buffer;
  userHandle?: Buffer | null;
  publicKey?: CborValue | Buffer;
  fmt?: string;
  attStmt?: CborValue;
  /** Changes the finished answer. */
  answer?: (answer: Answer) => unknown;
  signWith?: KeyObject;
};

type Answer = { id: string; rawId: string; type: string; response: Record<string, unknown> };

export const flag = { present: 1, verified: 4, eligible: 8, backedUp: 16, attested: 64, extensions: 128 };
const { present, verified } = flag;

const text = (bytes: Buffer) => bytes.toString('base64url');
const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest();

/** Keys of the three algorithms that are offered, in COSE form (RFC 9053). */
export function newKey(algorithm: PasskeyAlgorithm): Pick<PasskeyForTest, 'privateKey' | 'publicKey' | 'algorithm'> {
  const part = (key: KeyObject, name: 'x' | 'y' | 'n' | 'e') =>
    Buffer.from(key.export({ format: 'jwk' })[name] as string, 'base64url');
  if (algorithm === 'EdDSA') {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    return {
      algorithm,
      privateKey,
      publicKey: new Map<number, CborValue>([
        [1, 1],
        [3, -8],
        [-1, 6],
        [-2, part(publicKey, 'x')],
      ]),
    };
  }
  if (algorithm === 'RS256') {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const cose = new Map<number, CborValue>([
      [1, 3],
      [3, -257],
      [-1, part(publicKey, 'n')],
      [-2, part(publicKey, 'e')],
    ]);
    return { algorithm, privateKey, publicKey: cose };
  }
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const point = [
    [-2, part(publicKey, 'x')],
    [-3, part(publicKey, 'y')],
  ] as const;
  return { algorithm, privateKey, publicKey: new Map<number, CborValue>([[1, 2], [3, -7], [-1, 1], ...point]) };
}

/** A passkey for a user, as if just made. */
export function newPasskey(
  { userHandle, rpId = 'localhost' }: { userHandle: Buffer; rpId?: string },
  algorithm: PasskeyAlgorithm = 'ES256',
): PasskeyForTest {
  const aaguid = Buffer.alloc(16);
  return { credentialId: randomBytes(32), userHandle, rpId, aaguid, counter: 0, ...newKey(algorithm) };
}

function clientDataOf(type: string, challenge: string, origin: string, tweak: Tweak): Buffer {
  if (tweak.clientDataBytes) return tweak.clientDataBytes;
  const { type: otherType = type, challenge: otherChallenge = challenge, origin: otherOrigin = origin } = tweak;
  const base = { type: otherType, challenge: otherChallenge, origin: otherOrigin, crossOrigin: false };
  return Buffer.from(JSON.stringify({ ...base, ...tweak.clientData }));
}

function authenticatorHead(
  passkey: PasskeyForTest,
  usual: number,
  { rpId, flags, counter, extensions }: Tweak,
): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8((flags ?? usual) | (extensions ? flag.extensions : 0));
  head.writeUInt32BE(counter ?? passkey.counter, 1);
  return Buffer.concat([sha256(rpId ?? passkey.rpId), head]);
}

/** The answer to a sign-in, as JSON. The passkey counts on if it counts at all. */
export function assertionOf(
  passkey: PasskeyForTest,
  { challenge, origin = 'http://localhost:8080' }: { challenge: string; origin?: string },
  tweak: Tweak = {},
): string {
  if (passkey.counter > 0 && tweak.counter === undefined) passkey.counter += 1;
  const clientData = clientDataOf('webauthn.get', challenge, origin, tweak);
  const data = Buffer.concat([
    authenticatorHead(passkey, present | verified, tweak),
    tweak.extensions ?? Buffer.alloc(0),
    tweak.trailing ?? Buffer.alloc(0),
  ]);
  const signed = Buffer.concat([data, sha256(clientData)]);
  const digest = passkey.algorithm === 'EdDSA' ? null : 'sha256';
  const id = text(tweak.credentialId ?? passkey.credentialId);
  const userHandle = tweak.userHandle === undefined ? passkey.userHandle : tweak.userHandle;
  return finished(tweak, {
    ...{ id, rawId: id, type: 'public-key' },
    response: {
      clientDataJSON: text(clientData),
      authenticatorData: text(data),
      signature: text(sign(digest, signed, tweak.signWith ?? passkey.privateKey)),
      ...(userHandle && { userHandle: text(userHandle) }),
    },
  });
}

/** The answer to an enrolment, as JSON. */
export function enrolmentOf(
  passkey: PasskeyForTest,
  { challenge, origin = 'http://localhost:8080' }: { challenge: string; origin?: string },
  tweak: Tweak = {},
): string {
  const clientData = clientDataOf('webauthn.create', challenge, origin, tweak);
  const inside = tweak.credentialId ?? passkey.credentialId;
  const length = Buffer.alloc(2);
  length.writeUInt16BE(inside.length);
  const key = tweak.publicKey ?? passkey.publicKey;
  const authData = Buffer.concat([
    authenticatorHead(passkey, present | verified | flag.attested, tweak),
    passkey.aaguid,
    length,
    inside,
    Buffer.isBuffer(key) ? key : cbor(key),
    tweak.extensions ?? Buffer.alloc(0),
  ]);
  const object = cbor(
    new Map<string, CborValue>([
      ['fmt', tweak.fmt ?? 'none'],
      ['attStmt', tweak.attStmt ?? new Map()],
      ['authData', authData],
    ]),
  );
  const id = text(passkey.credentialId);
  return finished(tweak, {
    ...{ id, rawId: id, type: 'public-key' },
    response: {
      clientDataJSON: text(clientData),
      attestationObject: text(Buffer.concat([object, tweak.trailing ?? Buffer.alloc(0)])),
      transports: ['internal'],
    },
  });
}

function finished({ answer }: Tweak, honest: Answer): string {
  const given = answer ? answer(honest) : honest;
  return typeof given === 'string' ? given : JSON.stringify(given);
}

/** What our authenticator writes; a Map keeps its order, and its keys may be numbers. */
export type CborValue = number | string | Buffer | CborValue[] | Map<number | string, CborValue>;

/** Encodes as authenticators do (RFC 8949, definite lengths). */
export function cbor(value: CborValue): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)]);
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, part]) => [cbor(key), cbor(part)])]);
}

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255]);
}
