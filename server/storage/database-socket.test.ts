import type { Socket } from 'node:net';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { databaseForTest } from '#testing/database-for-test.ts';
import { databaseSocket } from './database-socket.ts';

test('a connection lost with something unsent works again at once', async () => {
  const database = await databaseForTest();
  const { place } = database;
  const sockets: Socket[] = [];
  const how = {
    max: 1,
    backoff: () => 0,
    connect_timeout: 5,
    socket: (where: Parameters<typeof databaseSocket>[0]) => {
      const socket = databaseSocket(where);
      sockets.push(socket);
      return socket;
    },
  } as postgres.Options<Record<string, never>> & { socket: unknown };
  const sql = 'url' in place ? postgres(place.url, how) : postgres({ ...place, ...how });
  for (let loss = 1; loss <= 3; loss += 1) {
    await sql`select`;
    sockets.at(-1)?.destroy();
    // Node reports the end after this, but before what the statement writes is sent, in the next immediate.
    await new Promise((resolve) => setImmediate(resolve));
    const unsent = sql`select ${loss}::int`.then(
      () => 'sent',
      (error: { code: string }) => error.code,
    );
    expect(await unsent).toBe('CONNECTION_CLOSED');
    expect(await sql`select 2 as two`).toEqual([{ two: 2 }]);
  }
  // Those on which nothing was written never reached PostgreSQL.
  expect(sockets.filter((socket) => socket.bytesWritten > 0)).toHaveLength(4);
  await sql.end({ timeout: 1 });
  await database.close();
});
