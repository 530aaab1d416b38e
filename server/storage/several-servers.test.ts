import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DebianPostgresql, debianPostgresql } from '#testing/debian-postgresql.ts';
import { freePort } from '#testing/free-port.ts';
import { connect, isDatabaseAway } from './connect.ts';
import type { Database } from './database.ts';
import { askAll, primaryOf } from './primary.ts';
import { stateOf } from './server-state.ts';

/** A standby whose primary is gone may be waiting to ask it again, five seconds by default, before it is promoted. */
const promptPromotion = { wal_retrieve_retry_interval: '100ms' };

const portOf = async (sql: Database) => (await sql`select inet_server_port() as port`)[0]?.port;

describe('of a primary and a standby', { timeout: 60_000 }, () => {
  let primary: DebianPostgresql;
  let standby: DebianPostgresql;
  const pools: Database[] = [];
  beforeAll(async () => {
    primary = await debianPostgresql();
    standby = await debianPostgresql({ standbyOf: primary, settings: promptPromotion });
  }, 120_000);
  afterAll(async () => {
    for (const pool of pools) await pool.end({ timeout: 1 });
    await standby.close();
    await primary.close();
  });

  function poolOn(...ports: number[]): Database {
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
    const pool = connect({ url: `postgres://vestibule@${hosts}/postgres` });
    pools.push(pool);
    return pool;
  }

  it.each([
    ['first', () => [primary.port, standby.port]],
    ['last', () => [standby.port, primary.port]],
  ])('the primary is used if it stands %s', async (_, ports) => {
    const sql = poolOn(...ports());
    expect(await Promise.all(Array.from({ length: 20 }, () => portOf(sql)))).toEqual(Array(20).fill(primary.port));
    await sql`create table if not exists written (at int)`;
  });

  it('one that is down does not matter', async () => {
    expect(await portOf(poolOn(await freePort(), primary.port))).toBe(primary.port);
  });

  it('one that is silent does not matter', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    expect(await portOf(poolOn(port, primary.port))).toBe(primary.port);
    // Nobody waits for the end of the time in which it may say something.
    const asked = await askAll([`postgres://vestibule@127.0.0.1:${port}/postgres`, primary.urlOf('postgres')]);
    expect(asked.map(({ role }) => role)).toEqual(['primary']);
    silent.close();
  });

  it('without a primary each statement fails as when the database is down, and the error names them all', async () => {
    const down = await freePort();
    const sql = poolOn(standby.port, down);
    for (let round = 1; round <= 3; round += 1) {
      const errors = await Promise.all(Array.from({ length: 12 }, () => sql`select`.then(null, (error) => error)));
      expect(errors.every(isDatabaseAway)).toBe(true);
      expect(String(errors[0])).toContain(`127.0.0.1:${standby.port}: standby`);
      expect(String(errors[0])).toContain(`127.0.0.1:${down}: connect ECONNREFUSED`);
    }
  });

  it('after a failover the pool goes on with the new primary, also if the old one comes back as it was', async () => {
    const sql = poolOn(primary.port, standby.port);
    await sql`create table kept as select 1 as one`;
    const here = connect({ url: standby.urlOf('postgres') });
    pools.push(here);
    await expect
      .poll(() =>
        here`select from kept`.then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await primary.kill();
    await here`select pg_promote(wait => false)`;
    await expect.poll(() => portOf(sql).catch(() => null), { timeout: 10_000 }).toBe(standby.port);
    expect(await sql`select one from kept`).toEqual([{ one: 1 }]);

    await primary.start();
    const fresh = poolOn(primary.port, standby.port);
    expect(await Promise.all(Array.from({ length: 10 }, () => portOf(fresh)))).toEqual(Array(10).fill(standby.port));
  });
});

it('a primary that falls silent holds nobody for long once a standby is promoted', { timeout: 60_000 }, async () => {
  const primary = await debianPostgresql();
  const standby = await debianPostgresql({ standbyOf: primary, settings: promptPromotion });
  const line = await lineTo(primary.port);
  const sql = connect({ url: `postgres://vestibule@127.0.0.1:${line.port},127.0.0.1:${standby.port}/postgres` });
  const here = connect({ url: standby.urlOf('postgres') });
  expect(await portOf(sql)).toBe(primary.port);
  line.silence();
  const hung = Array.from({ length: 12 }, () => sql`select`.then(null, (error) => error));
  await here`select pg_promote(wait => false)`;
  const answers = await Promise.all(hung);
  expect(answers.some((error) => error !== null && isDatabaseAway(error))).toBe(true);
  await expect.poll(() => portOf(sql).catch(() => null), { timeout: 10_000 }).toBe(standby.port);
  for (const pool of [sql, here]) await pool.end({ timeout: 1 });
  line.close();
  await standby.close();
  await primary.close();
});

it('a server that falls silent after the login is away', async () => {
  // Authenticated, and ready for a query (PostgreSQL, §55.7).
  const ready = Buffer.from('520000000800000000' + '5a0000000549', 'hex');
  const server = createServer((socket) => socket.on('data', () => socket.write(ready))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await stateOf(`postgres://u@127.0.0.1:${port}/x`)).toMatchObject({ role: 'away' });
  await new Promise((resolve) => server.close(resolve));
});

/** A line to a port that can fall silent, also for whoever connects from then on. */
async function lineTo(port: number): Promise<{ port: number; silence: () => void; close: () => void }> {
  const sockets: Socket[] = [];
  let isSilent = false;
  const line = createServer((client) => {
    const server = connectTo(port, '127.0.0.1');
    sockets.push(client, server);
    for (const socket of [client, server]) socket.on('error', () => {});
    if (!isSilent) client.pipe(server).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(line, 'listening');
  return {
    port: (line.address() as AddressInfo).port,
    silence: () => {
      isSilent = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      line.close();
    },
  };
}

describe('of two primaries', () => {
  const old = { address: 'postgres://old/x', role: 'primary', timeline: 1 } as const;
  const promoted = { address: 'postgres://new/x', role: 'primary', timeline: 2 } as const;
  const third = { address: 'postgres://third/x', role: 'primary', timeline: 2 } as const;
  const standby = { address: 'postgres://standby/x', role: 'standby' } as const;

  it('the one promoted last counts', () => {
    for (const states of [
      [old, promoted],
      [promoted, old],
    ])
      expect(primaryOf(states)).toBe(promoted);
  });

  it('neither does if both were promoted from the same one', () => {
    expect(primaryOf([old, promoted, third])).toBeNull();
  });

  it('an older one than was seen before does not, though it is the only one', () => {
    expect(primaryOf([old, standby], 2)).toBeNull();
    expect(primaryOf([promoted, standby], 2)).toBe(promoted);
    expect(primaryOf([standby])).toBeNull();
  });
});
