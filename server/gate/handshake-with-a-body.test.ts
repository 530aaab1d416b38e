import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cuttableDatabase } from '#testing/cuttable-database.ts';
import { databaseForTest } from '#testing/database-for-test.ts';
import { portalProcess } from '#testing/portal-process.ts';

it('GT-09 GT-11 a handshake with a body, or behind another request, does not end the process', async () => {
  const database = await databaseForTest();
  const wire = await cuttableDatabase(database);
  const folder = await mkdtemp(join(tmpdir(), 'vestibule-handshake-'));
  const configFile = join(folder, 'vestibule.config.json');
  await writeFile(configFile, JSON.stringify({ hub: { url: 'http://127.0.0.1:9', paths: ['/app'] } }));
  const env = { VESTIBULE_CONFIG: configFile, VESTIBULE_DATA: folder };
  const { origin, child, exit } = await portalProcess(wire.url, { env });
  const { host, port } = new URL(origin);
  for (const path of ['/healthz', '/app/x']) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 3\r\n\r\n`,
    );
    await once(socket, 'data');
    socket.destroy();
  }
  const socket = connect(Number(port), '127.0.0.1');
  const session = `GET /portal/session HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  socket.write(
    `${session}GET /portal/x HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  );
  socket.on('error', () => {}).resume();
  await once(socket, 'close');
  expect((await fetch(`${origin}/healthz`)).status).toBe(200);
  child.kill('SIGTERM');
  expect(await exit).toEqual({ code: 0, signal: null });
  await wire.close();
  await database.close();
  await rm(folder, { recursive: true, force: true });
});
