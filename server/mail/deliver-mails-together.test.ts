import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { startWorker } from '#server/worker.ts';
import { deliverAll, letLeave, queueMailTo, waitingMails } from '#testing/mails-for-test.ts';
import type { PortalForTest } from '#testing/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#testing/portal-of-file.ts';
import { startAfresh } from '#testing/reset-for-test.ts';
import { mailDelivery } from './deliver-mail.ts';
import { mailLanes } from './smtp-transport.ts';

// Two instances on one database, each with its own pool.
const portal = portalOfFile();
const other = otherInstanceOfFile(portal);
beforeEach(async () => {
  await startAfresh(portal);
  other.mails.length = 0;
  letLeave(portal);
  letLeave(other);
});

const queue = (count: number) => Promise.all(Array.from({ length: count }, () => queueMailTo(portal, 'alice')));
const begin = ({ deps }: PortalForTest) =>
  startWorker({ name: 'sending', work: mailDelivery(deps), lookEvery: 10, lanes: mailLanes, log: deps.log });
const untilNoneWaits = () => expect.poll(() => waitingMails(portal), { timeout: 10_000 }).toEqual([]);

describe('emails queued together', () => {
  it('RL-06 two hundred sent by two instances each leave exactly once', async () => {
    await queue(200);
    const sent: string[] = [];
    for (const { onSend } of [portal, other])
      onSend(async ({ id }) => {
        sent.push(id);
        await sleep(Math.random() * 3);
      });
    const workers = [portal, other].map(begin);
    await untilNoneWaits();
    await Promise.all(workers.map(({ stop }) => stop()));
    expect([sent.length, new Set(sent).size]).toEqual([200, 200]);
  });

  it('are spread over all lanes, however few: none waits behind a whole batch', async () => {
    await queue(20);
    let underWay = 0;
    let mostAtOnce = 0;
    portal.onSend(async () => {
      underWay += 1;
      mostAtOnce = Math.max(mostAtOnce, underWay);
      await sleep(20);
      underWay -= 1;
    });
    const worker = begin(portal);
    for (let n = 0; n < mailLanes; n += 1) worker.wake();
    await untilNoneWaits();
    await worker.stop();
    expect(mostAtOnce).toBe(mailLanes);
  });

  it('are released when the process stops: the one in progress leaves, others can claim the rest at once', async () => {
    await queue(40);
    const work = mailDelivery(portal.deps);
    for (let n = 0; n < 4; n += 1) await work();
    const before = portal.mails.length;
    const waiting = 40 - before - 1;
    expect(waiting).toBeGreaterThan(5);
    expect(await work(AbortSignal.abort())).toBe('more');
    expect(portal.mails).toHaveLength(before + 1);
    expect(await waitingMails(portal)).toEqual(
      Array(waiting).fill({ kind: 'passwordChanged', tries: 0, problem: null }),
    );
    expect(await deliverAll(mailDelivery(other.deps))).toBe('nothing');
    expect(other.mails).toHaveLength(waiting);
  });
});
