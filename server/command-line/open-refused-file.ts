import { open } from 'node:fs/promises';
import type { RefusedLine } from '../moving-in/import-users.ts';
import { failure } from './failure.ts';

/** A file of refused lines, readable by its owner only; it replaces an older one. Throws a failure if it can't be written. */
export async function openRefusedFile(
  path: string,
): Promise<{ write: (line: RefusedLine) => void; close: () => Promise<void> }> {
  const refused = (error: NodeJS.ErrnoException) => failure(`--refused: ${path} cannot be written (${error.code}).`);
  const file = await open(path, 'w', 0o600).catch((error) => Promise.reject(refused(error)));
  // An older file keeps its mode, and a device such as /dev/null is not ours to change.
  if ((await file.stat()).isFile()) await file.chmod(0o600).catch((error) => Promise.reject(refused(error)));
  let waiting: Promise<unknown> = Promise.resolve();
  return {
    write(line) {
      waiting = waiting.then(() => file.write(`${JSON.stringify(line)}\n`));
      waiting.catch(() => {});
    },
    async close() {
      await waiting.catch((error) => Promise.reject(refused(error)));
      await file.close();
    },
  };
}
