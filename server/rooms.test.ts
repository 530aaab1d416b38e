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
  // names and networks: reading, folding, comparing
  'names',
  // hashing, sealing, tokens, keys
  'crypto',
  // environment, configuration file, an operator's colours, logo and texts
  'config',
  // the SQL client, migrations, the built-in PostgreSQL
  'database',
  // events, reasons, references
  'audit',
  // limits that all instances share
  'throttle',
  // users, customers, memberships, what is demanded of them
  'people',
  // what rules and routes are given: clock, database, log, mail transport …
  'deps.ts',
  // work that waits in the database
  'jobs',
  // requests and responses: guards, cookies, pages, refusals; requests to others
  'http',
  // composing and sending emails
  'mail',
  // a session's life, who makes a request and where they are sent
  'sessions',
  // codes, recovery codes, remembered devices, passkeys
  'factors',
  // by password or passkey; reset and change of a password
  'sign-in',
  // by OpenID Connect and SAML
  'single-sign-on',
  // forward auth, our own proxy, signed tokens, sign-outs told to hubs
  'hub',
  // what operators do to users and customers; moving in
  'accounts',
  // what people do once they are in: account page, sign-out
  'account',
  // support and administration in the browser
  'desk',
  // the addresses of screens, the page behind the sign-in, screens as files
  'pages',
  // health, metrics, housekeeping, workers
  'operations',
  'app.ts',
  'run-portal.ts',
  'main.ts',
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

it('only tests import from test/', async () => {
  const found: string[] = [];
  for await (const file of glob('**/*.ts', { cwd: root }))
    if (!file.endsWith('.test.ts') && (await readFile(join(root, file), 'utf8')).includes("'#test/")) found.push(file);
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
