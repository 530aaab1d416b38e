import { randomBytes } from 'node:crypto';
import { link, open, readFile, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * The secret kept in a file, 256 bits in base64url; created on the first call, with mode 0600. Safe with concurrent
 * calls and crashes: all read the same complete secret.
 */
export async function readOrMakeSecretFile(path: string): Promise<string> {
  const kept = await readSecretFile(path);
  if (kept !== null) return kept;
  const draft = `${path}.${process.pid}-${randomBytes(6).toString('hex')}`;
  await writeDurably(draft, `${randomBytes(32).toString('base64url')}\n`);
  // A link refuses to replace an existing file, so the first one wins; with a rename the last one would.
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await unlink(draft);
  await syncFolder(dirname(path));
  return (await readFile(path, 'utf8')).trim();
}

/** The secret kept in a file, or null if the file is missing. */
export async function readSecretFile(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the names in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
