import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { cuttableDatabase } from '#test/support/cuttable-database.ts';
import { letLeave, queueMailTo, waitingMails } from '#test/support/mail-for-test.ts';
import { type PortalForTest, portalForTest } from '#test/support/portal-for-test.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { startAfresh, userId } from '#test/support/reset-for-test.ts';
import { MailNotSent } from '../deps.ts';
import { jobFirstWait, jobsOf } from '../jobs/job.ts';
import { type Outcome, startWorker } from '../jobs/worker.ts';
import { day, hour, second } from '../limits.ts';
import { mailsAtOnce } from '../mail/smtp-transport.ts';
import { mailQueue } from './workers.ts';

// Two instances on one database; the second one's connection can be cut.
const portal = portalOfFile();
const wire = sharedByFile(() => cuttableDatabase(portal.database));
const other = sharedByFile(() => portalForTest({}, portal, { sql: wire.sql }));
beforeEach(async () => {
  await startAfresh(portal);
  other.mails.length = 0;
  other.wait(portal.deps.now().getTime() - other.deps.now().getTime());
  letLeave(portal);
  letLeave(other);
});

const workOf = ({ deps }: PortalForTest) => jobsOf(deps, mailQueue(deps));

/** Sends what is due; returns the result of the last piece of work. */
async function deliver(work = workOf(portal)): Promise<Outcome> {
  for (;;) {
    const outcome = await work();
    if (outcome !== 'more') return outcome;
  }
}

const fail = (why: 'away' | 'refused') => portal.onSend(() => Promise.reject(new MailNotSent(why, `it was ${why}`)));
const waiting = () => waitingMails(portal);
const sent = ({ mails }: PortalForTest = portal) => mails.map(({ recipient }) => recipient.split('@')[0]);

describe('a queued email', () => {
  it('leaves once, the oldest first, but those that somebody waits for before all others', async () => {
    for (const [age, username] of ['carol', 'alice', 'bob'].entries())
      await queueMailTo(portal, username, { now: new Date(portal.deps.now().getTime() - age) });
    await queueMailTo(portal, 'sso-only', { kind: 'singleSignOnHint' });
    expect(await deliver()).toBe('nothing');
    expect(sent()).toEqual(['sso-only', 'bob', 'alice', 'carol']);
    expect(await waiting()).toEqual([]);
  });

  it('RL-06 is sent once by two instances, as many at once as there may be', async () => {
    for (let n = 0; n < 100; n += 1) await queueMailTo(portal, 'alice');
    const ids: string[] = [];
    let [underWay, mostAtOnce] = [0, 0];
    for (const { onSend } of [portal, other])
      onSend(async ({ id }) => {
        ids.push(id);
        underWay += 1;
        mostAtOnce = Math.max(mostAtOnce, underWay);
        await sleep(3);
        underWay -= 1;
      });
    const workers = [portal, other].map((one) =>
      startWorker({ name: 'mail', work: workOf(one), lookEvery: 10, atOnce: mailsAtOnce, log: one.deps.log }),
    );
    await expect.poll(waiting, { timeout: 10_000 }).toEqual([]);
    await Promise.all(workers.map(({ stop }) => stop()));
    expect([ids.length, new Set(ids).size]).toEqual([100, 100]);
    expect(mostAtOnce).toBeGreaterThan(mailsAtOnce);
  });
});

describe('an email that the mail server refuses', () => {
  it('is retried after 10 s, 20 s … an hour, then dropped after a day, which is recorded', async () => {
    await queueMailTo(portal, 'alice');
    fail('refused');
    const waits = [10, 20, 40, 80, 160, 320, 640, 1280, 2560, ...Array(30).fill(3600)].map((wait) => wait * second);
    const queuedAt = portal.deps.now().getTime();
    for (const [at, wait] of waits.entries()) {
      expect(await deliver()).toBe('nothing');
      expect(await waiting()).toMatchObject([{ tries: at + 1, problem: 'it was refused' }]);
      if (portal.deps.now().getTime() + wait - queuedAt >= day) break;
      portal.wait(wait - 1);
      await deliver();
      expect(await waiting(), `${wait} ms less one`).toMatchObject([{ tries: at + 1 }]);
      portal.wait(1);
    }
    portal.wait(queuedAt + day + hour - portal.deps.now().getTime());
    letLeave(portal);
    expect(await deliver()).toBe('nothing');
    expect([sent(), await waiting()]).toEqual([[], []]);
    expect(await portal.sql`select event, username, user_id, steps from audit_event`).toEqual([
      {
        ...{ event: 'mail-given-up', username: 'alice', user_id: await userId(portal, 'alice') },
        steps: [
          { step: 'mail', outcome: 'passwordChanged' },
          { step: 'tries', outcome: '32' },
        ],
      },
    ]);
  });
});

it('RL-06 while the mail server is down, no attempt is counted, and each email leaves once after recovery', async () => {
  for (const username of ['alice', 'bob']) await queueMailTo(portal, username);
  fail('away');
  for (let n = 0; n < 20; n += 1) {
    expect(await deliver()).toBe('away');
    portal.wait(jobFirstWait);
  }
  expect(await waiting()).toEqual([0, 0].map((tries) => ({ kind: 'passwordChanged', tries, problem: 'it was away' })));
  letLeave(portal);
  expect(await deliver()).toBe('nothing');
  expect(sent().sort()).toEqual(['alice', 'bob']);
});
