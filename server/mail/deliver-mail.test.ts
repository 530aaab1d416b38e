import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Outcome, startWorker } from '#server/background/worker.ts';
import { limits } from '#server/limits.ts';
import { addUser } from '#server/testing/accounts-for-test.ts';
import { type CuttableDatabase, cuttableDatabase } from '#server/testing/cuttable-database.ts';
import { type PortalForTest, portalForTest } from '#server/testing/portal-for-test.ts';
import { startAfresh, userId } from '#server/testing/reset-for-test.ts';
import { mailDelivery } from './deliver-mail.ts';
import { type MailContent, queueMail } from './queue-mail.ts';

// Two instances on one database, each with a pool of its own; the way of the second to it can be cut.
let portal: PortalForTest;
let other: PortalForTest;
let wire: CuttableDatabase;
beforeAll(async () => {
  const first = await portalForTest();
  wire = await cuttableDatabase(first.database);
  [portal, other] = [first, await portalForTest({}, first, { sql: wire.sql })];
});
beforeEach(async () => {
  await startAfresh(portal);
  for (const { mails, onSend } of [portal, other]) {
    mails.length = 0;
    onSend(async ({ id, recipient }, words) => void mails.push({ id, recipient, ...words }));
  }
});
afterAll(async () => {
  await other.close();
  await wire.close();
  await portal.close();
});

/** Sends what is due; what the last piece of work came to. */
async function deliver(work = mailDelivery(portal.deps)): Promise<Outcome> {
  for (;;) {
    const outcome = await work();
    if (outcome !== 'more') return outcome;
  }
}

/** Queues a mail to a user at acme.test. */
async function queue(username: string, more: Partial<MailContent> = {}): Promise<void> {
  const reader = { id: await userId(portal, username), username, email: `${username}@acme.test`, language: null };
  await queueMail(portal.sql, reader, { kind: 'passwordChanged', now: portal.deps.now(), ...more });
}

const waiting = async () => [...(await portal.sql`select kind, tries, problem from mail`)];

describe('a mail that waits', () => {
  it('leaves once, and its row with it; the one that waits longest first', async () => {
    for (const [age, username] of ['carol', 'alice', 'bob'].entries())
      await queue(username, { now: new Date(portal.deps.now().getTime() - age) });
    expect(await deliver()).toBe('nothing');
    expect(portal.mails.map(({ recipient }) => recipient)).toEqual(
      ['bob', 'alice', 'carol'].map((name) => `${name}@acme.test`),
    );
    expect(await waiting()).toEqual([]);
    expect(await portal.deps.metrics.text()).toContain('vestibule_mails_sent_total{kind="passwordChanged"} 3');
  });

  it('of two hundred that two instances send together each leaves exactly once', async () => {
    await Promise.all(Array.from({ length: 200 }, () => queue('alice')));
    const sent: string[] = [];
    for (const { onSend } of [portal, other])
      onSend(async ({ id }) => {
        sent.push(id);
        await sleep(Math.random() * 3);
      });
    const workers = [portal, other].map(({ deps }) => {
      return startWorker({
        name: 'sending',
        work: mailDelivery(deps),
        lookEvery: 10,
        lanes: limits.mailLanes,
        log: deps.log,
      });
    });
    await expect.poll(waiting, { timeout: 10_000 }).toEqual([]);
    await Promise.all(workers.map(({ stop }) => stop()));
    expect([sent.length, new Set(sent).size]).toEqual([200, 200]);
  });

  it('of a few that come together each lane takes some: nobody waits for more than a few before him', async () => {
    await Promise.all(Array.from({ length: 20 }, () => queue('alice')));
    let underWay = 0;
    let mostAtOnce = 0;
    portal.onSend(async () => {
      underWay += 1;
      mostAtOnce = Math.max(mostAtOnce, underWay);
      await sleep(20);
      underWay -= 1;
    });
    const { deps } = portal;
    const worker = startWorker({
      ...{ name: 'sending', lookEvery: 1000 },
      work: mailDelivery(deps),
      lanes: 5,
      log: deps.log,
    });
    for (let n = 0; n < 5; n += 1) worker.wake();
    await expect.poll(waiting, { timeout: 10_000 }).toEqual([]);
    await worker.stop();
    expect(mostAtOnce).toBe(5);
  });

  it('is let go of when the process is to stop: what is under way leaves, the rest is there for others at once', async () => {
    await Promise.all(Array.from({ length: 40 }, () => queue('alice')));
    const work = mailDelivery(other.deps);
    other.wait(portal.deps.now().getTime() - other.deps.now().getTime());
    for (let n = 0; n < 4; n += 1) await work();
    const before = other.mails.length;
    expect((await waiting()).length).toBeGreaterThan(5);
    expect(await work(AbortSignal.abort())).toBe('more');
    expect(other.mails).toHaveLength(before + 1);
    expect(await waiting()).toEqual(Array(39 - before).fill({ kind: 'passwordChanged', tries: 0, problem: null }));
    expect(await deliver()).toBe('nothing');
    expect(portal.mails).toHaveLength(39 - before);
  });

  it('that an instance took on and died over is sent by another one after a time, and not before', async () => {
    await queue('alice');
    const until = new Date(portal.deps.now().getTime() + limits.mailTakenOnFor);
    portal.onSend(() => Promise.reject(new Error('died')));
    await expect(deliver()).rejects.toThrow('died');
    expect(await portal.sql`select send_after, tries from mail`).toEqual([{ send_after: until, tries: 1 }]);
    other.wait(until.getTime() - other.deps.now().getTime() - 1);
    await deliver(mailDelivery(other.deps));
    expect(other.mails).toHaveLength(0);
    other.wait(1);
    await deliver(mailDelivery(other.deps));
    expect(other.mails).toHaveLength(1);
    expect(await waiting()).toEqual([]);
  });

  it('is not sent a second time by an instance that lost the database after it had left', async () => {
    await queue('bob', { now: other.deps.now() });
    const deliverMail = mailDelivery(other.deps);
    other.onSend(async ({ id, recipient }, words) => {
      other.mails.push({ id, recipient, ...words });
      wire.cut();
    });
    await expect(deliver(deliverMail)).rejects.toThrow();
    await expect(deliver(deliverMail)).rejects.toThrow();
    wire.mend();
    expect(await waiting()).toMatchObject([{ tries: 1 }]);
    expect(await deliver(deliverMail)).toBe('nothing');
    expect(await waiting()).toEqual([]);
    other.wait(limits.mailTakenOnFor);
    expect(await deliver(deliverMail)).toBe('nothing');
    expect(other.mails).toHaveLength(1);
  });

  it.each([
    ['pl', 'de', 'pl'],
    [null, 'de', 'de'],
    [null, undefined, 'en'],
  ] as const)(
    'is in the language of its reader (%s), else in that of the page (%s)',
    async (language, page, expected) => {
      await addUser(portal, { username: 'grace', language });
      const reader = { id: await userId(portal, 'grace'), username: 'grace', email: 'grace@acme.test', language };
      await queueMail(portal.sql, reader, {
        kind: 'newDevice',
        now: portal.deps.now(),
        ...(page && { language: page }),
      });
      await deliver();
      expect(portal.mails[0]?.html).toContain(`lang="${expected}"`);
    },
  );
});
