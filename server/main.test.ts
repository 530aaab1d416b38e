import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { type CuttableDatabase, cuttableDatabase } from '#test/support/cuttable-database.ts';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { type PortalForTest, testPassword } from '#test/support/portal-for-test.ts';
import { portalProcess, runVestibuleProcess } from '#test/support/run-vestibule.ts';
import { listenProblem } from './run-portal.ts';

let database: DatabaseForTest;
let wire: CuttableDatabase;
beforeAll(async () => {
  database = await databaseForTest();
  wire = await cuttableDatabase(database);
  const portal = { sql: database.sql } as PortalForTest;
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'bob' });
});
afterAll(async () => {
  await wire.close();
  await database.close();
});

/** Crashes the process in the given way on SIGUSR2, with a secret where library errors carry theirs. */
const crash = (how: string) => `
  process.on('SIGUSR2', () => {
    const error = Object.assign(new Error('something broke'), { detail: String(['Canary', 'Secret']), parameters: ['Canary', 'Secret'] });
    ${how};
  });`;

describe('the process', () => {
  it('finishes sign-ins in progress on SIGTERM, then exits with 0', async () => {
    const { origin, child, exit, output } = await portalProcess(wire.url);
    const signIn = async (from: number) => {
      const { status, headers } = await fetch(`${origin}/portal/performlogin`, {
        method: 'POST',
        body: new URLSearchParams({ username: 'bob', password: testPassword, n: String(from) }),
        redirect: 'manual',
      });
      return [status, headers.get('location')];
    };
    const underWay = Array.from({ length: 12 }, (_, index) => signIn(index));
    await expect.poll(async () => (await database.sql`select from session`).length).toBeGreaterThan(0);
    child.kill('SIGTERM');
    for (const answer of await Promise.all(underWay)) expect(answer).toEqual([303, '/portal/portal.html']);
    expect(await exit).toEqual({ code: 0, signal: null });
    expect(output()).toContain('"stopping"');
    expect(output()).toContain('still at their placeholders: links.support, links.imprint, links.solutions');
    await expect(fetch(`${origin}/healthz`)).rejects.toThrow();
  });

  it.each([
    ['an unhandled rejection', 'Promise.reject(error)'],
    ['an uncaught error', 'throw error'],
  ])('LG-07 exits with 1 after %s, logged as JSON without its secrets', async (_what, how) => {
    const { child, exit, output } = await portalProcess(wire.url, { preload: crash(how) });
    child.kill('SIGUSR2');
    expect(await exit).toEqual({ code: 1, signal: null });
    const lines = output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: number; msg: string; err?: object });
    expect(lines.at(-1)).toMatchObject({
      level: 60,
      msg: 'crashed',
      err: { type: 'Error', message: 'something broke' },
    });
    expect(output()).not.toContain('Canary,Secret');
    expect(output()).not.toContain('"parameters"');
  });

  it.each([
    ['it cannot listen', { HOST: '203.0.113.9' }, /this machine has no address 203\.0\.113\.9 – set HOST .*\n$/],
    [
      'there is no database',
      { DATABASE_URL: 'postgres://u:p@127.0.0.1:1/x' },
      /ECONNREFUSED.* DATABASE_URL is right\n$/,
    ],
  ])('ends with one sentence if %s, with a stack if that is asked for', async (_what, wrong, sentence) => {
    const env = { DATABASE_URL: wire.url, VESTIBULE_SECRET: 'x'.repeat(43), VESTIBULE_CONFIG: '', PORT: '0', ...wrong };
    const { code, err, out } = await runVestibuleProcess(['serve'], { env });
    expect(code).toBe(1);
    expect(err).toMatch(/^The portal cannot start: [^\n]*\n$/);
    expect(err).toMatch(sentence);
    expect(out + err).not.toMatch(/\n +at /);
    expect((await runVestibuleProcess(['serve', '--verbose'], { env })).err).toMatch(/\n +at .*run-portal/);
  });
});

it.each([
  ['EADDRINUSE', '::1', '[::1]:80 is in use by another process'],
  ['EACCES', '0.0.0.0', 'may not listen on port 80 – set PORT'],
  ['ENOTFOUND', 'nowhere', 'no address nowhere – set HOST'],
  ['EIO', 'localhost', 'cannot listen on localhost:80: oh'],
])('that the portal cannot listen (%s) is explained', (code, host, words) => {
  expect(listenProblem(Object.assign(new Error('oh'), { code }), { host, port: 80 })).toContain(words);
});
