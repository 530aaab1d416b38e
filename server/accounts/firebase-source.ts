import { readFile } from 'node:fs/promises';
import type { Reading } from '../names/read-name.ts';
import { checkedHash } from './read-credentials.ts';
import type { ReadSource } from './source-user.ts';
import { isGiven, refusedValue, textOf } from './source-user.ts';

/** The password hash parameters of a project. */
type FirebaseConfig = { signerKey: Buffer; saltSeparator: Buffer; rounds: number; memCost: number };

/** Reads the parameters from a file with the text that the Firebase console shows. */
export async function readFirebaseConfig(path: string): Promise<Reading<FirebaseConfig>> {
  const no = (problem: string) => ({ kind: 'refused', problem: `--firebase-config: ${problem}` }) as const;
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    return no(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  const value = (name: string) => new RegExp(`${name}["']?\\s*[:=]\\s*["']?([\\w+/=-]+)`).exec(text)?.[1];
  const [signerKey, saltSeparator] = ['base64_signer_key', 'base64_salt_separator'].map((name) =>
    Buffer.from(value(name) ?? '', 'base64'),
  ) as [Buffer, Buffer];
  const [rounds, memCost] = [Number(value('rounds')), Number(value('mem_cost'))];
  if (signerKey.length === 0 || !Number.isSafeInteger(rounds) || !Number.isSafeInteger(memCost))
    return no(`${path} does not have base64_signer_key, base64_salt_separator, rounds and mem_cost`);
  return { kind: 'ok', value: { signerKey, saltSeparator, rounds, memCost } };
}

/** A user of `firebase auth:export` in JSON; without a configuration, users with a password are refused. */
export function readFirebase(config: FirebaseConfig | null): ReadSource {
  return (record) => ({
    kind: 'ok',
    value: {
      email: record.email,
      emailVerified: record.emailVerified,
      active: record.disabled === undefined || textOf(record.disabled) === 'false',
      createdAt: record.createdAt,
      passwordHash: readHash(record.passwordHash, record.salt, config),
    },
  });
}

/**
 * Firebase's hash is its project's signer key, encrypted under a key that scrypt makes of the password (AES-256 in
 * counter mode, github.com/firebase/scrypt). Without the signer key, which is known, the key stream is left: it is
 * stored, so that the signer key need not be.
 */
function readHash(hash: unknown, salt: unknown, config: FirebaseConfig | null): Reading<string | null> {
  if (!isGiven(hash)) return { kind: 'ok', value: null };
  if (typeof hash !== 'string' || typeof salt !== 'string') return refusedValue('passwordHash', 'needs a salt');
  if (!config) return refusedValue('passwordHash', "--firebase-config is needed, with the project's parameters");
  const bytes = Buffer.from(hash, 'base64');
  const { signerKey, saltSeparator, rounds, memCost } = config;
  if (bytes.length !== signerKey.length) return refusedValue('passwordHash', 'does not fit the signer key');
  return checkedHash({
    kind: 'firebase',
    log2Cost: memCost,
    block: rounds,
    salt: Buffer.concat([Buffer.from(salt, 'base64'), saltSeparator]),
    key: Buffer.from(bytes.map((byte, index) => byte ^ (signerKey[index] as number))),
  });
}
