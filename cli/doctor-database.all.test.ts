import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DebianPostgresql, debianPostgresql } from '#test/support/debian-postgresql.ts';
import { testAuthorityFile } from '#test/support/mail-for-test.ts';
import { quickFolder } from '#test/support/quick-folder.ts';
import { runVestibuleProcess } from '#test/support/run-vestibule.ts';

let folder: string;
const servers: DebianPostgresql[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(quickFolder, 'vestibule-doctor-'));
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await rm(folder, { recursive: true });
});

async function start(options: Parameters<typeof debianPostgresql>[0] = {}): Promise<DebianPostgresql> {
  const server = await debianPostgresql(options);
  servers.push(server);
  return server;
}

/** The lines that `vestibule doctor` says of the database. */
async function doctor(databaseUrl: string): Promise<string[]> {
  const { out } = await runVestibuleProcess(['doctor'], {
    env: {
      DATABASE_URL: databaseUrl,
      VESTIBULE_SECRET: 'x'.repeat(43),
      VESTIBULE_DATA: folder,
      NODE_EXTRA_CA_CERTS: testAuthorityFile,
    },
  });
  return out.split('\n').filter((line) => /– (?:database|line to the database) –/.test(line));
}

describe('with TLS', { timeout: 120_000 }, () => {
  it.each([
    ['localhost', 'verify-full', 'ok      – database – up to date'],
    [
      'elsewhere',
      'verify-full',
      "failed  – database – The database is not available: Hostname/IP does not match certificate's altnames",
    ],
    ['elsewhere', 'require', 'ok      – database – up to date'],
  ] as const)('a certificate for %s, by sslmode=%s: %s', async (certificate, mode, line) => {
    const server = await start({ certificate, settings: { ssl_min_protocol_version: 'TLSv1.3' } });
    const lines = await doctor(`postgres://vestibule@localhost:${server.port}/postgres?sslmode=${mode}`);
    expect(lines).toContainEqual(expect.stringContaining(line));
  });

  it('a server that has none is refused', async () => {
    const server = await start();
    const lines = await doctor(`postgres://vestibule@localhost:${server.port}/postgres?sslmode=verify-full`);
    expect(lines).toContainEqual(expect.stringMatching(/^failed {2}– database –/));
  });
});
