import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DebianPostgresql, debianPostgresql } from '#testing/debian-postgresql.ts';
import { testAuthorityFile } from '#testing/mail-server-for-test.ts';
import { quickFolder } from '#testing/quick-folder.ts';
import { runVestibuleProcess } from '#testing/run-vestibule.ts';
import { connect } from '../storage/connect.ts';
import { checkLine } from './doctor-database-checks.ts';

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
  return out
    .split('\n')
    .filter((line) => /– (?:database|database servers|durability|line to the database) –/.test(line));
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

it.each([
  ['postgres://db.example/x', 'others on the network may read and change what is sent'],
  ['postgres://db.example/x?sslmode=prefer', 'others on the network may read and change what is sent'],
  ['postgres://127.0.0.1,db.example/x?sslmode=require', 'encrypted, but the certificate is not checked'],
  ['postgres://db.example/x?sslmode=verify-full', 'encrypted, and the certificate is checked'],
  ['postgres://localhost/x', 'on this machine'],
])('the line of %s: %s', (url, words) => {
  expect(checkLine(url).words).toContain(words);
});

describe('of a primary and a standby', { timeout: 120_000 }, () => {
  it('names each, what a failover would lose, and two primaries', async () => {
    const primary = await start({ settings: { fsync: 'on' } });
    const standby = await start({ standbyOf: primary, settings: { wal_retrieve_retry_interval: '100ms' } });
    const [one, two] = [`127.0.0.1:${primary.port}`, `127.0.0.1:${standby.port}`];
    const url = `postgres://vestibule@${two},${one}/postgres`;
    const [atPrimary, atStandby] = [
      connect({ url: primary.urlOf('postgres') }),
      connect({ url: standby.urlOf('postgres') }),
    ];
    expect(await doctor(url)).toEqual([
      `ok      – database servers – ${two} is the standby; ${one} is the primary`,
      expect.stringContaining('ok      – database – up to date'),
      'ok      – line to the database – on this machine',
      'warning – durability – a failover may lose what was acknowledged last – set synchronous_standby_names (docs/operating.md)',
    ]);

    await atPrimary`alter system set synchronous_standby_names to 'standby'`;
    await atPrimary`select pg_reload_conf()`;
    expect((await doctor(url))[3]).toBe(
      'ok      – durability – changes are acknowledged once they are on a standby, too',
    );

    await atStandby`select pg_promote(wait => false)`;
    const last = async () => (await doctor(url))[0];
    await expect
      .poll(last, { timeout: 30_000 })
      .toBe(
        `failed  – database servers – ${two} is the primary; ${one} is the primary – stop the one that was the primary before, and make it a standby again`,
      );

    for (const sql of [atPrimary, atStandby]) await sql.end({ timeout: 1 });
    await standby.kill();
    await primary.kill();
    expect(await doctor(url)).toEqual([
      expect.stringMatching(
        /^failed {2}– database servers – .* is away: connect ECONNREFUSED .* – bring the primary back; promote a standby only if the primary is certainly down, the one that is furthest ahead$/,
      ),
      expect.stringMatching(/^failed {2}– database – /),
      'ok      – line to the database – on this machine',
    ]);
  });
});
