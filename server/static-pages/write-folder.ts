import { createHash } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Files by their paths below a folder. */
export type Files = ReadonlyMap<string, string | Buffer>;

/** `foreign`: what is in the folder and was not written by us, or was changed since. `failed`: nothing was changed. */
type Refused = { kind: 'foreign'; paths: string[] } | { kind: 'failed'; code: string };
export type Written = { kind: 'written' } | Refused;
export type Free = { kind: 'free' } | Refused;

/** The list of what we wrote, and each file's digest. */
const listName = '.vestibule-pages.json';
/** Folders that a run writes to first; one that was killed leaves its own. */
const stagePrefix = '.vestibule-new-';
const stageName = /^\.vestibule-new-\w{6}$/;

/** Whether the folder may be written to, before there is anything to write. */
export async function lookAtFolder(folder: string, isForced: boolean): Promise<Free> {
  try {
    const paths = isForced ? [] : await foreignAmong(folder, await pathsIn(folder), await readList(folder));
    return paths.length > 0 ? { kind: 'foreign', paths } : { kind: 'free' };
  } catch (error) {
    return failed(error);
  }
}

function failed(error: unknown): Refused {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return { kind: 'failed', code };
}

/**
 * Writes all files or none. What an earlier run wrote is replaced, but for files below `kept`, which documents already in
 * a browser still ask for. Anything else in the folder is refused, or left alone with `isForced`.
 */
export async function writeFolder(folder: string, files: Files, kept: string, isForced: boolean): Promise<Written> {
  let made: string | undefined;
  let stage: string | undefined;
  try {
    const before = await readList(folder);
    const present = await pathsIn(folder);
    const look = await lookAtFolder(folder, isForced);
    if (look.kind !== 'free') return look;
    const blocked = await codeOfObstacle(folder, present, [...files.keys()]);
    if (blocked) return { kind: 'failed', code: blocked };
    made = await mkdir(folder, { recursive: true });
    await removeLeftStages(folder);
    stage = await mkdtemp(join(folder, stagePrefix));
    // The list may have been written by anybody: nothing outside the folder is ours, whatever it says.
    const old = Object.entries(before).filter(([path]) => present.includes(path) && !files.has(path));
    const staying = old.filter(([path]) => path.startsWith(kept));
    const gone = await unchangedAmong(
      folder,
      old.filter(([path]) => !path.startsWith(kept)),
    );
    const list = [...[...files].map(([path, content]) => [path, digestOf(content)]), ...staying];
    const all = new Map([...files, [listName, `${JSON.stringify(Object.fromEntries(list), null, 1)}\n`]]);
    for (const [path, content] of all) await writeStaged(join(stage, path), content);
    // What a document asks for is there before the document.
    const ordered = [...all.keys()].sort((one, other) => rank(one, kept) - rank(other, kept));
    for (const path of ordered) await putInPlace(join(stage, path), join(folder, path));
    for (const path of gone) await rm(join(folder, path), { force: true });
    await rm(stage, { recursive: true });
    return { kind: 'written' };
  } catch (error) {
    if (stage) await rm(stage, { recursive: true, force: true });
    if (made) await rm(made, { recursive: true, force: true });
    return failed(error);
  }
}

const rank = (path: string, kept: string) => (path.startsWith(kept) ? 0 : path === listName ? 2 : 1);

async function writeStaged(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  // Web servers tell one version from another by time and size. All languages have one address, so that two of the same
  // size need different times, and these are the same on every machine.
  const time = 1_600_000_000 + (Number.parseInt(digestOf(content).slice(0, 8), 16) % 100_000_000);
  await utimes(path, time, time);
}

async function putInPlace(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await rename(from, to);
}

/** What would stop the files from being put in place half-way: a file where a folder is needed, or the reverse. */
async function codeOfObstacle(folder: string, present: readonly string[], paths: readonly string[]) {
  if (paths.some((path) => present.some((other) => path.startsWith(`${other}/`)))) return 'ENOTDIR';
  const found = await Promise.all(paths.map((path) => lstat(join(folder, path)).catch(() => null)));
  return found.some((entry) => entry?.isDirectory()) ? 'EISDIR' : null;
}

async function foreignAmong(folder: string, present: readonly string[], ours: Record<string, string>) {
  const foreign: string[] = [];
  for (const path of present) {
    if (path === listName && Object.keys(ours).length > 0) continue;
    const digest = ours[path];
    if (digest === undefined || digest !== (await digestIn(folder, path))) foreign.push(path);
  }
  return foreign;
}

/** What an earlier run wrote; nothing if there was none. */
async function readList(folder: string): Promise<Record<string, string>> {
  try {
    const list: unknown = JSON.parse(await readFile(join(folder, listName), 'utf8'));
    const isPlain = typeof list === 'object' && list !== null && !Array.isArray(list);
    return isPlain ? { ...(list as Record<string, string>) } : {};
  } catch {
    return {};
  }
}

async function removeLeftStages(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory() && stageName.test(entry.name)) await rm(join(folder, entry.name), { recursive: true });
}

/** Everything in the folder but its folders, and what a killed run left; throws if it is a file. */
async function pathsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !(path.includes('/') && stageName.test(path.split('/', 1)[0] ?? '')));
}

async function unchangedAmong(folder: string, ours: readonly [string, string][]): Promise<string[]> {
  const unchanged: string[] = [];
  for (const [path, digest] of ours) {
    const found = await digestIn(folder, path).catch(() => null);
    if (found === digest) unchanged.push(path);
  }
  return unchanged;
}

async function digestIn(folder: string, path: string): Promise<string> {
  return digestOf(await readFile(join(folder, path)));
}

function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}
