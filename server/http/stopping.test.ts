import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { answerOn, listeningPortal } from '#test/support/listening-portal.ts';
import { portalForTest, testPassword } from '#test/support/portal-for-test.ts';

it('a stop answers requests already on open connections, and accepts no new connection', async () => {
  const portal = await portalForTest();
  await addAttackFixtures(portal);
  const { host, open } = await listeningPortal(portal);
  const socket = await open();
  const form = `username=bob&password=${testPassword}`;
  socket.write(
    `POST /portal/performlogin HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/x-www-form-urlencoded\r\n` +
      `Content-Length: ${form.length}\r\n\r\n${form.slice(0, 10)}`,
  );
  await sleep(100);
  const stopped = portal.app.close();
  socket.write(`${form.slice(10)}GET /portal/login HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  const { statuses, closed, text } = await answerOn(socket);
  expect({ statuses, closed }).toEqual({ statuses: [303, 200], closed: true });
  expect(text).toContain('location: /portal/portal.html');
  await expect(open()).rejects.toThrow('ECONNREFUSED');
  await stopped;
  await portal.close();
});
