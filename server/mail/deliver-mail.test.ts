import { beforeEach, describe, expect, it } from 'vitest';
import { cuttableDatabase } from '#testing/cuttable-database.ts';
import { deliverAll, letLeave, queueMailTo, waitingMails } from '#testing/mails-for-test.ts';
import { portalForTest } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { startAfresh } from '#testing/reset-for-test.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { mailDelivery, mailTakenOnFor, waitedForLookEvery } from './deliver-mail.ts';

// Two instances on one database; the second one's connection can be cut.
const portal = portalOfFile();
const wire = sharedByFile(() => cuttableDatabase(portal.database));
const other = sharedByFile(() => portalForTest({}, portal, { sql: wire.sql }));
beforeEach(async () => {
  await startAfresh(portal);
  other.mails.length = 0;
  letLeave(portal);
  letLeave(other);
});

const deliver = () => deliverAll(mailDelivery(portal.deps));

describe('a queued email', () => {
  it('leaves once, and its row with it; the oldest first', async () => {
    for (const [age, username] of ['carol', 'alice', 'bob'].entries())
      await queueMailTo(portal, username, { now: new Date(portal.deps.now().getTime() - age) });
    expect(await deliver()).toBe('nothing');
    expect(portal.mails.map(({ recipient }) => recipient)).toEqual(
      ['bob', 'alice', 'carol'].map((name) => `${name}@acme.test`),
    );
    expect(await waitingMails(portal)).toEqual([]);
  });

  it('leaves before all others if somebody waits for it, also those that a lane has claimed', async () => {
    const at = portal.deps.now();
    for (let age = 10; age > 0; age -= 1)
      await queueMailTo(portal, 'alice', { now: new Date(at.getTime() - age * waitedForLookEvery) });
    await queueMailTo(portal, 'bob', { kind: 'passkeyHint' });
    portal.onSend(async ({ id, recipient }, words) => {
      portal.mails.push({ id, recipient, ...words });
      // The lane has claimed four at once: it holds three when somebody else begins to wait.
      if (portal.mails.length === 5) await queueMailTo(portal, 'carol', { kind: 'passkeyHint' });
      portal.wait(waitedForLookEvery);
    });
    await deliver();
    const readers = portal.mails.map(({ recipient }) => recipient.split('@')[0]);
    expect(readers).toEqual(['bob', 'alice', 'alice', 'alice', 'alice', 'carol', ...Array(6).fill('alice')]);
  });

  it('leaves after those of its lane if the lane has claimed them a moment ago', async () => {
    for (let age = 10; age > 0; age -= 1) await queueMailTo(portal, 'alice');
    portal.onSend(async ({ id, recipient }, words) => {
      portal.mails.push({ id, recipient, ...words });
      if (portal.mails.length === 4) await queueMailTo(portal, 'carol', { kind: 'passkeyHint' });
      portal.wait(1);
    });
    await deliver();
    expect(portal.mails.findIndex(({ recipient }) => recipient.startsWith('carol'))).toBe(7);
  });

  it('taken by an instance that died is sent by another one later, and not before', async () => {
    await queueMailTo(portal, 'alice');
    const until = new Date(portal.deps.now().getTime() + mailTakenOnFor);
    portal.onSend(() => Promise.reject(new Error('died')));
    await expect(deliver()).rejects.toThrow('died');
    expect(await portal.sql`select send_after, tries from mail`).toEqual([{ send_after: until, tries: 1 }]);
    const work = mailDelivery(other.deps);
    other.wait(until.getTime() - other.deps.now().getTime() - 1);
    await deliverAll(work);
    expect(other.mails).toHaveLength(0);
    other.wait(1);
    await deliverAll(work);
    expect(other.mails).toHaveLength(1);
    expect(await waitingMails(portal)).toEqual([]);
  });

  it('is not resent by an instance that lost the database after sending it', async () => {
    await queueMailTo(portal, 'bob', { now: other.deps.now() });
    const work = mailDelivery(other.deps);
    other.onSend(async ({ id, recipient }, words) => {
      other.mails.push({ id, recipient, ...words });
      wire.cut();
    });
    for (let n = 0; n < 2; n += 1) await expect(deliverAll(work)).rejects.toThrow();
    wire.mend();
    expect(await waitingMails(portal)).toMatchObject([{ tries: 1 }]);
    expect(await deliverAll(work)).toBe('nothing');
    expect(await waitingMails(portal)).toEqual([]);
    other.wait(mailTakenOnFor);
    expect(await deliverAll(work)).toBe('nothing');
    expect(other.mails).toHaveLength(1);
  });

  it.each([
    ['pl', 'de', 'pl'],
    [null, 'de', 'de'],
    [null, undefined, 'en'],
  ] as const)(
    'is in the language of its reader (%s), else in that of the page (%s)',
    async (own, language, expected) => {
      await queueMailTo(portal, 'alice', { kind: 'newDevice', own, ...(language && { language }) });
      await deliver();
      expect(portal.mails[0]?.html).toContain(`lang="${expected}"`);
    },
  );
});
