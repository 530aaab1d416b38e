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
  // names, addresses and domains: reading, folding, comparing
  'names',
  // the list of events and reasons
  'audit',
  // hashing, sealing, tokens, keys
  'secrets',
  // an operator's colours, logo and texts, read and checked
  'brand',
  // environment and configuration file
  'config',
  // all SQL, the migrations
  'storage',
  // the built-in PostgreSQL
  'embedded',
  'open-storage.ts',
  // what rules and routes are given: clock, database, log, mail transport …
  'deps',
  'worker.ts',
  'do-job.ts',
  // requests and responses: guards, cookies, pages, refusals
  'http',
  'log.ts',
  // who is making a request, and where they are sent
  'visitor',
  // composing and delivering emails
  'mail',
  // keys and tokens that tell a hub who is signed in, or signed out
  'hub',
  // GET session; ending a session
  'session',
  // passkeys: their challenges, answers and rules
  'passkeys',
  // codes, registration, recovery codes
  'two-factor',
  // by password or passkey, and what every sign-in shares
  'sign-in',
  // by OpenID Connect and SAML
  'single-sign-on',
  // leaving, here and at the provider
  'sign-out',
  // reset links and new passwords
  'password',
  // what people do on their own account page
  'account',
  // what operators do to users and customers
  'accounts',
  // users of other systems come in, ours go out
  'moving-in',
  // housekeeping, workers, metrics, resealing
  'upkeep',
  // the addresses of screens, and the page behind the sign-in
  'pages',
  // the screens as files, for another backend
  'static-pages',
  // whether another backend behaves as the pages need it
  'conformance',
  // our own proxy in front of hubs
  'gate',
  'app.ts',
  'build-pages.ts',
  'run-portal.ts',
  'main.ts',
  // vestibule …
  'command-line',
];

const root = fileURLToPath(new URL('.', import.meta.url));

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
