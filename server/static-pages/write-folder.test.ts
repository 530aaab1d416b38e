import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFolder } from './write-folder.ts';

let parent: string;
let folder: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'vestibule-folder-'));
  folder = join(parent, 'deep/pages');
});
afterEach(() => rm(parent, { recursive: true }));

const first = new Map([
  ['public/portal/login.html', 'sign in'],
  ['public/portal/old.html', 'old'],
  ['public/portal/assets/main-1.js', 'one'],
]);
const second = new Map([
  ['public/portal/login.html', 'sign in again'],
  ['public/portal/assets/main-2.js', 'two'],
]);

const write = (files = first, isForced = false) => writeFolder(folder, files, 'public/portal/assets/', isForced);
const read = (path: string) => readFile(join(folder, path), 'utf8');

async function paths(): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

describe('a folder of files', () => {
  it('is made, with the folders above it', async () => {
    expect(await write()).toEqual({ kind: 'written' });
    expect(await paths()).toEqual(['.vestibule-pages.json', ...[...first.keys()].sort()]);
  });

  it('is written into an empty folder', async () => {
    await mkdir(folder, { recursive: true });
    expect(await write()).toEqual({ kind: 'written' });
  });

  it('replaces its own files, and keeps earlier scripts, which open pages still ask for', async () => {
    await write();
    expect(await write(second)).toEqual({ kind: 'written' });
    expect(await read('public/portal/login.html')).toBe('sign in again');
    const left = ['main-1.js', 'main-2.js'].map((name) => `public/portal/assets/${name}`);
    expect(await paths()).toEqual(['.vestibule-pages.json', ...left, 'public/portal/login.html']);
    expect(await write(second)).toEqual({ kind: 'written' });
  });

  it('has a time for each content, so that a web server tells two of one size apart', async () => {
    await write();
    const [login, old] = await Promise.all(
      ['login', 'old'].map((name) => stat(join(folder, `public/portal/${name}.html`))),
    );
    expect(Math.trunc(login?.mtimeMs ?? 0)).not.toBe(Math.trunc(old?.mtimeMs ?? 0));
    const before = login?.mtimeMs;
    await rm(folder, { recursive: true });
    await write();
    expect((await stat(join(folder, 'public/portal/login.html'))).mtimeMs).toBe(before);
  });
});

describe('a list that somebody has changed', () => {
  const list = '.vestibule-pages.json';
  const digest = 'f'.repeat(32);

  it('deletes nothing outside the folder', async () => {
    await write();
    const mine = join(parent, 'mine.txt');
    await writeFile(mine, 'mine');
    const paths = { ...JSON.parse(await read(list)), '../../mine.txt': digest };
    await writeFile(join(folder, list), JSON.stringify(paths));
    await write(second, true);
    expect(await readFile(mine, 'utf8')).toBe('mine');
    expect(await read(list)).not.toContain('mine');
  });

  it('deletes no file that is not as we wrote it', async () => {
    await write();
    await writeFile(join(folder, 'public/portal/old.html'), 'my words');
    expect(await write(second, true)).toEqual({ kind: 'written' });
    expect(await read('public/portal/old.html')).toBe('my words');
  });

  it.each(['null', '[]', '"text"', '7'])('says nothing if it is %s', async (text) => {
    await write();
    await writeFile(join(folder, list), text);
    expect((await write(second)).kind).toBe('foreign');
  });
});

it('what a killed run left is removed, and a file of such a name is not', async () => {
  await write();
  await mkdir(join(folder, '.vestibule-new-a1B2c3/public'), { recursive: true });
  await writeFile(join(folder, '.vestibule-new-a1B2c3/public/half.html'), 'half');
  expect(await write(second)).toEqual({ kind: 'written' });
  expect(await readdir(folder)).toEqual(['.vestibule-pages.json', 'public']);
  await writeFile(join(folder, '.vestibule-new-a1B2c3'), 'mine');
  expect(await write(second)).toEqual({ kind: 'foreign', paths: ['.vestibule-new-a1B2c3'] });
});

describe('is refused and left as it was', () => {
  it('with a file of somebody else in it', async () => {
    await write();
    await writeFile(join(folder, 'public/notes.txt'), 'mine');
    expect(await write(second)).toEqual({ kind: 'foreign', paths: ['public/notes.txt'] });
    expect(await read('public/portal/login.html')).toBe('sign in');
    expect(await write(second, true)).toEqual({ kind: 'written' });
    expect(await read('public/notes.txt')).toBe('mine');
    expect(await read('public/portal/login.html')).toBe('sign in again');
  });

  it('with a file of ours that was changed', async () => {
    await write();
    await writeFile(join(folder, 'public/portal/login.html'), 'my words');
    expect(await write(second)).toEqual({ kind: 'foreign', paths: ['public/portal/login.html'] });
    expect(await read('public/portal/login.html')).toBe('my words');
  });

  it('if nothing says which files are ours', async () => {
    await write();
    await writeFile(join(folder, '.vestibule-pages.json'), 'gone');
    expect((await write(second)).kind).toBe('foreign');
  });

  it('if it is a file, or below one', async () => {
    await mkdir(join(parent, 'deep'));
    await writeFile(folder, 'a file');
    expect(await write()).toEqual({ kind: 'failed', code: 'ENOTDIR' });
    await rm(folder);
    await rm(join(parent, 'deep'), { recursive: true });
    await writeFile(join(parent, 'deep'), 'a file');
    expect(await write()).toEqual({ kind: 'failed', code: 'ENOTDIR' });
  });

  it.skipIf(process.getuid?.() === 0)('if it cannot be written', async () => {
    await chmod(parent, 0o500);
    expect(await write()).toEqual({ kind: 'failed', code: 'EACCES' });
    await chmod(parent, 0o700);
  });

  it('if a file has the place of a folder, or a folder that of a file: nothing of ours is left', async () => {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'public'), 'a file');
    expect(await write(first, true)).toEqual({ kind: 'failed', code: 'ENOTDIR' });
    expect(await paths()).toEqual(['public']);
    await rm(join(folder, 'public'));
    await mkdir(join(folder, 'public/portal/old.html'), { recursive: true });
    expect(await write(first, true)).toEqual({ kind: 'failed', code: 'EISDIR' });
    expect(await paths()).toEqual([]);
  });
});
