import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Files by their paths below a folder. */
export type Files = Map<string, string | Buffer>;

/** It stands in a folder that we wrote. */
const mark = '.vestibule-pages';

/** Whether a folder is ours to write into: it is new, empty, or written by us. Throws if it cannot be read. */
export async function isOurs(folder: string): Promise<boolean> {
  const names: string[] = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.length === 0 || names.includes(mark);
}

/**
 * Writes the files in their order, each at once, since a web server may be reading. Others stay: documents that are open in
 * a browser still ask for earlier scripts.
 */
export async function writeFolder(folder: string, files: Files): Promise<void> {
  for (const [path, content] of [[mark, ''], ...files] as const) {
    const place = join(folder, path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(`${place}.new`, content);
    await rename(`${place}.new`, place);
  }
}
