import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CuttableDatabase, cuttableDatabase } from '#test/support/cuttable-database.ts';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { runVestibuleProcess } from '#test/support/run-vestibule.ts';
import { listenProblem } from './listen-problem.ts';

describe('an address where the portal cannot listen', () => {
  let database: DatabaseForTest;
  let wire: CuttableDatabase;
  const taken = createServer();
  beforeAll(async () => {
    database = await databaseForTest();
    wire = await cuttableDatabase(database);
    await once(taken.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(async () => {
    taken.close();
    await wire.close();
    await database.close();
  });
  const serve = (more: Record<string, string>) =>
    runVestibuleProcess(['serve'], {
      env: { DATABASE_URL: wire.url, VESTIBULE_SECRET: 'x'.repeat(43), VESTIBULE_CONFIG: '', ...more },
    });

  it('a taken port ends the process with one sentence that names address and setting', async () => {
    const { port } = taken.address() as AddressInfo;
    const { code, err, out } = await serve({ PORT: String(port) });
    expect(code).toBe(3);
    expect(err).toMatch(new RegExp(`^The portal cannot start: 127\\.0\\.0\\.1:${port} is in use .* PORT .*\\n$`));
    expect(out + err).not.toMatch(/EADDRINUSE|\n +at /);
  });

  it('an address that the machine does not have, too', async () => {
    const { code, err } = await serve({ HOST: '203.0.113.9', PORT: '0' });
    expect(code).toBe(3);
    expect(err).toMatch(/^The portal cannot start: this machine has no address 203\.0\.113\.9 – set HOST .*\n$/);
  });

  it.each([
    ['EADDRINUSE', '::1', '[::1]:80 is in use by another process'],
    ['EACCES', '0.0.0.0', 'may not listen on port 80 – set PORT'],
    ['ENOTFOUND', 'nowhere', 'no address nowhere – set HOST'],
    ['EIO', 'localhost', 'cannot listen on localhost:80: oh'],
  ])('%s is explained', (code, host, words) => {
    expect(listenProblem(Object.assign(new Error('oh'), { code }), { host, port: 80 })).toContain(words);
  });
});
