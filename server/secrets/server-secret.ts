import { createHmac, hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newToken } from './token.ts';

/**
 * The secrets of the data folder, made on first use. Written beside and linked into place, so that two starts at the
 * same moment agree on one and a crash leaves no half of it.
 */
export async function secretsOfDataFolder(dataFolder: string): Promise<string[]> {
  const path = join(dataFolder, 'secret');
  const read = () => readFileSync(path, 'utf8').trim().split(',');
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const draft = `${path}.${process.pid}.new`;
  await writeFile(draft, `${newToken()}\n`, { mode: 0o600, flush: true });
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await unlink(draft);
  return read();
}

/** A key for one purpose, derived from a secret (RFC 5869): 32 bytes. */
export function derivedKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `vestibule ${purpose}`, 32));
}

/** A short keyed digest: equal texts give equal digests, and without the key nothing can be tried against them. */
export function keyedDigest(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest().subarray(0, 8);
}
