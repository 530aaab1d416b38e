import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { enter } from './presence.ts';

/** AuthenticationOk and ReadyForQuery (PostgreSQL, Message Formats). */
const ready = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1');

test('PostgreSQL that ends on the first query is not there, and was asked nothing that nobody waits for', async () => {
  const asked: string[] = [];
  const postgres = createServer((socket) => {
    socket.once('data', () => {
      socket.write(ready);
      socket.once('data', (query) => {
        asked.push(query.toString('latin1'));
        socket.destroy();
      });
    });
  }).listen(0, '127.0.0.1');
  await once(postgres, 'listening');
  const { port } = postgres.address() as AddressInfo;
  expect(await enter({ url: `postgres://nobody@127.0.0.1:${port}/none` }, () => {})).toBeNull();
  expect(asked).toEqual([expect.stringContaining('pg_advisory_lock_shared')]);
  postgres.close();
});
