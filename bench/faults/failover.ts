import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '#server/database/connect.ts';
import { type DebianPostgresql, debianPostgresql } from '#test/support/debian-postgresql.ts';
import { freePort, isListening } from '#test/support/free-port.ts';
import { twoPortalsOn } from '#test/support/two-portals.ts';
import { measureFault } from './measure-fault.ts';
import { measurePeople, peopleWhoChange } from './people.ts';

/** How long the load goes on before. */
const before = 5000;

/** Kills a primary under load and promotes its synchronous standby, behind HAProxy as docs/operating.md has it. */
export async function measureFailover(): Promise<void> {
  const primary = await debianPostgresql({ settings: { synchronous_standby_names: 'standby' } });
  const standby = await debianPostgresql({ standbyOf: primary, settings: { wal_retrieve_retry_interval: '500ms' } });
  const haproxy = await startHaproxy({ db1: primary, db2: standby });
  const portals = await twoPortalsOn(`postgres://vestibule@127.0.0.1:${haproxy.port}/postgres`);
  try {
    const people = await peopleWhoChange(portals);
    const fault = {
      name: 'the primary killed, its standby promoted',
      lasts: 0,
      mayLose: 0,
      begin: async () => {
        await pause(before);
        await primary.kill();
        await promote(standby);
        return () => {};
      },
    };
    await measureFault(fault, { portals, crowds: [people] });
    await measurePeople(people, 'the failover');
  } finally {
    await portals.close();
    await haproxy.close();
    await standby.close();
    await primary.close();
  }
}

/** Returns once it is the primary: that is when the fault ends. */
async function promote(standby: DebianPostgresql): Promise<void> {
  const sql = connect({ url: standby.urlOf('postgres') }, { statementTimeout: 0 });
  await sql`select pg_promote()`;
  await sql.end();
}

async function startHaproxy(servers: Record<string, DebianPostgresql>) {
  const page = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  let [, text = ''] = /```haproxy\n([^`]+)```/.exec(page) ?? [];
  const port = await freePort();
  text = text.replace('bind 127.0.0.1:5432', `bind 127.0.0.1:${port}`);
  const checks = await Promise.all(Object.values(servers).map(answerAsPatroni));
  for (const [at, [name, server]] of Object.entries(servers).entries())
    text = text.replace(`${name}:5432`, `127.0.0.1:${server.port} port ${checks[at]?.port}`);
  const folder = await mkdtemp(join(tmpdir(), 'vestibule-haproxy-'));
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, text);
  const child = spawn('haproxy', ['-q', '-db', '-f', file], { stdio: 'inherit' });
  // Until then it takes both for a primary.
  while (!(await isListening(port)) || checks.some((check) => check.answered() < 3)) await pause(20);
  return {
    port,
    close: async () => {
      child.kill();
      await once(child, 'exit');
      for (const check of checks) await check.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Says whether the server is the primary, as Patroni does. */
async function answerAsPatroni(server: DebianPostgresql) {
  const sql = connect({ url: server.urlOf('postgres') }, { poolSize: 1 });
  const isPrimary = async () => (await sql`select pg_is_in_recovery() as follows`)[0]?.follows === false;
  let answered = 0;
  const patroni = createServer(async (_request, response) => {
    response.writeHead((await isPrimary().catch(() => false)) ? 200 : 503).end();
    answered += 1;
  }).listen(0, '127.0.0.1');
  await once(patroni, 'listening');
  const close = async () => {
    patroni.close();
    await sql.end();
  };
  return { port: (patroni.address() as AddressInfo).port, answered: () => answered, close };
}
