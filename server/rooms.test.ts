import { glob, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/**
 * The rooms of the server and the files between them, from the ground up. A file imports, types included, only from its
 * own room and those before it in this list.
 */
const rooms = [
  'limits.ts',
  'names',
  'audit',
  'secrets',
  'config',
  'storage',
  'embedded',
  'open-storage.ts',
  'deps',
  'worker.ts',
  'http',
  'log.ts',
  'visitor',
  'mail',
  'session',
  'two-factor',
  'sign-in',
  'single-sign-on',
  'sign-out',
  'password',
  'accounts',
  'upkeep',
  'pages',
  'app.ts',
  'build-pages.ts',
  'main.ts',
  'command-line',
];

const root = fileURLToPath(new URL('.', import.meta.url));

it('no file imports from a room that is built on its own', async () => {
  const climbing: string[] = [];
  for await (const file of glob('**/*.ts', { cwd: root })) {
    if (file.endsWith('.test.ts')) continue;
    const level = levelOf(file);
    expect(level, `${file} lies in a room`).toBeGreaterThanOrEqual(0);
    for (const imported of importsOf(file, await readFile(join(root, file), 'utf8')))
      if (levelOf(imported) > level) climbing.push(`${file} -> ${imported}`);
  }
  expect(climbing).toEqual([]);
});

it('only tests import what tests share', async () => {
  const strays: string[] = [];
  for await (const file of glob('**/*.ts', { cwd: root }))
    if (!file.endsWith('.test.ts') && (await readFile(join(root, file), 'utf8')).includes("'#testing/"))
      strays.push(file);
  expect(strays).toEqual([]);
});

function levelOf(file: string): number {
  return rooms.findIndex((room) => file === room || file.startsWith(`${room}/`));
}

function importsOf(file: string, source: string): string[] {
  const found = source.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g);
  return [...found].map(([, path]) => normalize(join(dirname(file), path as string)));
}
