import { chmod, mkdir, readdir, stat } from 'node:fs/promises';

/** What the product puts into its data folder; anything else means that the folder is shared. */
const ownNames = /^(?:postgres|secret|outbox|\.)/;

/**
 * Creates the data folder with mode 0700, or closes an existing one to others. A folder with foreign files is left
 * open, so that a mistake such as `VESTIBULE_DATA=/var/lib` locks nobody out; our own files in it are private anyway.
 */
export async function prepareDataFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made !== undefined) return;
  const { mode, uid } = await stat(folder);
  if ((mode & 0o077) === 0 || uid !== process.getuid?.()) return;
  const names = await readdir(folder);
  if (names.every((name) => ownNames.test(name))) await chmod(folder, 0o700);
}

/** A file system error as one sentence for the operator; other errors are returned unchanged. */
export function dataFolderError(folder: string, error: unknown): unknown {
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (!code || !syscall) return error;
  return new Error(
    `The data folder ${folder} cannot be used (${syscall} ${path ?? ''}: ${code}): make it writable for this user, ` +
      'set VESTIBULE_DATA to another folder, or set DATABASE_URL.',
    { cause: error },
  );
}
