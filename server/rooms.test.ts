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
  'brand',
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
  'hub',
  'session',
  'two-factor',
  'sign-in',
  'passkeys',
  'single-sign-on',
  'sign-out',
  'password',
  'account',
  'accounts',
  'moving-in',
  'upkeep',
  'pages',
  'static-pages',
  'conformance',
  'gate',
  'app.ts',
  'build-pages.ts',
  'run-portal.ts',
  'main.ts',
  'command-line',
];

const root = fileURLToPath(new URL('.', import.meta.url));

it('newcomers are shown the same rooms, in this order', async () => {
  const page = await readFile(join(root, '../CONTRIBUTING.md'), 'utf8');
  const [, table = ''] = page.split('| room | holds |');
  const shown = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| `([\w-]+)` \|/gm)].map(([, room]) => room);
  expect(shown).toEqual(rooms.filter((room) => !room.endsWith('.ts')));
});

it('no file imports from a room above its own', async () => {
  const upward: string[] = [];
  for await (const file of glob('**/*.ts', { cwd: root })) {
    if (file.endsWith('.test.ts')) continue;
    const level = levelOf(file);
    expect(level, `${file} is in no room`).toBeGreaterThanOrEqual(0);
    for (const imported of importsOf(file, await readFile(join(root, file), 'utf8')))
      if (levelOf(imported) > level || levelOf(imported) === -1) upward.push(`${file} -> ${imported}`);
  }
  expect(upward).toEqual([]);
});

it('only tests import from testing/', async () => {
  const found: string[] = [];
  for await (const file of glob('**/*.ts', { cwd: root }))
    if (!file.endsWith('.test.ts') && (await readFile(join(root, file), 'utf8')).includes("'#testing/"))
      found.push(file);
  expect(found).toEqual([]);
});

function levelOf(file: string): number {
  return rooms.findIndex((room) => file === room || file.startsWith(`${room}/`));
}

function importsOf(file: string, source: string): string[] {
  const paths = [...source.matchAll(/(?:from|import|import\()\s*'((?:\.|#server\/)[^']+\.ts)'/g)].map(
    ([, path]) => path as string,
  );
  return paths.map((path) =>
    path.startsWith('#') ? path.slice('#server/'.length) : normalize(join(dirname(file), path)),
  );
}
