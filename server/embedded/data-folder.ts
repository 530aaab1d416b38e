import { chmod, mkdir, readdir, stat } from 'node:fs/promises';

/** What the product itself puts into its data folder; anything else means that the folder is not ours alone. */
const ownNames = /^(?:postgres|secret|outbox|\.)/;

/**
 * Makes the data folder with mode 0700, or closes an existing one to others. A folder that also holds foreign things is
 * left open as it is, so that a slip such as `VESTIBULE_DATA=/var/lib` shuts nobody out; what we put there is private anyway.
 */
export async function prepareDataFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made !== undefined) return;
  const { mode, uid } = await stat(folder);
  if ((mode & 0o077) === 0 || uid !== process.getuid?.()) return;
  const names = await readdir(folder);
  if (names.every((name) => ownNames.test(name))) await chmod(folder, 0o700);
}

/** An error of the file system as one sentence for the operator; any other error as it is. */
export function dataFolderError(folder: string, error: unknown): unknown {
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (!code || !syscall) return error;
  return new Error(
    `The data folder ${folder} cannot be used (${syscall} ${path ?? ''}: ${code}): make it writable for this user, ` +
      'set VESTIBULE_DATA to another folder, or set DATABASE_URL.',
    { cause: error },
  );
}
