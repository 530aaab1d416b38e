import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { queueMailTo, waitingMails } from '#test/support/mail-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { startAfresh } from '#test/support/reset-for-test.ts';
import { mailsAtOnce } from '../mail/smtp-transport.ts';
import { startWorkers, type Workers } from './workers.ts';

// Two instances on one database; only the second does the queued work.
const portal = portalOfFile({ once: startAfresh });
const other = otherInstanceOfFile(portal);
let workers: Workers;
beforeAll(() => {
  // Polls only when the test says so.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  workers = startWorkers(other.deps);
  other.deps.wake = workers.wake;
});
afterAll(async () => {
  await workers.stop();
  vi.useRealTimers();
});

/** Like `expect.poll`, which would advance the fake clock. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('it did not come to that');
    await sleep(5);
  }
}

it('a stop waits only for the emails in progress', async () => {
  const queued = Promise.withResolvers<void>();
  let begun = 0;
  other.onSend(async () => {
    await queued.promise;
    begun += 1;
    await sleep(10);
  });
  await Promise.all(Array.from({ length: 100 }, () => queueMailTo(other, 'bob')));
  workers.wake.mails();
  queued.resolve();
  await until(() => begun > 20);
  const underWay = begun;
  await workers.stop();
  expect(begun - underWay).toBeLessThanOrEqual(mailsAtOnce);
  expect((await waitingMails(other)).length).toBeGreaterThan(20);
});
