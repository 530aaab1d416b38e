import { beforeEach, describe, expect, it } from 'vitest';
import { day, hour, minute } from '#server/limits.ts';
import type { Outcome } from '#server/worker.ts';
import { deliverAll, letLeave, queueMailTo, waitingMails } from '#testing/mails-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { startAfresh, userId } from '#testing/reset-for-test.ts';
import { MailNotSent } from '../deps/mail-transport.ts';
import { mailDelivery, mailGivenUpAfter, mailTakenOnFor } from './deliver-mail.ts';
import { mailLanes } from './smtp-transport.ts';

const second = 1000;
let work: () => Promise<Outcome>;
const portal = portalOfFile();
beforeEach(async () => {
  await startAfresh(portal);
  work = mailDelivery(portal.deps);
  leave();
});

async function queue(...usernames: string[]): Promise<void> {
  for (const username of usernames) await queueMailTo(portal, username);
}
const deliver = () => deliverAll(work);
const leave = () => letLeave(portal);
const fail = (why: 'away' | 'refused') => portal.onSend(() => Promise.reject(new MailNotSent(why, `it was ${why}`)));
const waiting = () => waitingMails(portal);
const sent = () => portal.mails.map(({ recipient }) => recipient);

describe('an email that the mail server refuses', () => {
  it('is retried after 10 s, 20 s … an hour, then dropped after a day, which is recorded', async () => {
    await queue('alice');
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
    portal.wait(queuedAt + day - portal.deps.now().getTime());
    expect(await deliver()).toBe('nothing');
    portal.wait(hour);
    leave();
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
    expect(await deliver()).toBe('nothing');
  });

  it('delays no other email', async () => {
    await queue('alice', 'bob');
    portal.onSend(async ({ id, recipient }, words) => {
      if (recipient === 'alice@acme.test') throw new MailNotSent('refused', 'no such mailbox');
      portal.mails.push({ id, recipient, ...words });
    });
    expect(await deliver()).toBe('nothing');
    expect(sent()).toEqual(['bob@acme.test']);
  });

  it('V2.3.3 is not lost if its end cannot be recorded', async () => {
    await queue('alice');
    portal.wait(mailGivenUpAfter);
    await portal.sql`alter table audit_event rename to audit_event_away`;
    await expect(deliver()).rejects.toThrow('audit_event');
    await portal.sql`alter table audit_event_away rename to audit_event`;
    expect(await waiting()).toHaveLength(1);
  });
});

describe('while the mail server is down', () => {
  it('RL-06 the pause grows from 1 s to 60 s, no attempt is counted, and each email leaves once after recovery', async () => {
    await queue('alice', 'bob');
    fail('away');
    for (const pause of [1, 2, 4, 8, 16, 32, 60, 60]) {
      expect(await deliver()).toEqual({ pause: pause * second });
      portal.wait(pause * second);
    }
    expect(await waiting()).toMatchObject([{ tries: 0 }, { tries: 0 }]);
    leave();
    expect(await deliver()).toBe('nothing');
    expect(sent().sort()).toEqual(['alice@acme.test', 'bob@acme.test']);
    await queue('carol');
    fail('away');
    expect(await deliver()).toEqual({ pause: second });
  });

  it('emails in progress when it went down cause one pause, not one each', async () => {
    await queue(...Array(150).fill('alice'));
    fail('away');
    for (const pause of [1, 2, 4]) {
      const outcomes = await Promise.all(Array.from({ length: mailLanes }, () => work()));
      expect(outcomes).toEqual(Array(mailLanes).fill({ pause: pause * second }));
    }
  });

  it('a lane that finishes meanwhile starts no other email and leaves the rest until the pause ends', async () => {
    await queue(...Array(20).fill('alice'));
    for (let n = 0; n < 2; n += 1) await work();
    const [slow, sending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let tries = 0;
    portal.onSend(() => {
      tries += 1;
      sending.resolve();
      return slow.promise;
    });
    const first = work();
    await sending.promise;
    portal.onSend(() => {
      tries += 1;
      return Promise.reject(new MailNotSent('away', 'away'));
    });
    expect(await work()).toEqual({ pause: second });
    slow.resolve();
    expect(await first).toEqual({ pause: second });
    expect(tries).toBe(2);
    expect(await waiting()).toHaveLength(16);
    expect(new Set((await waiting()).map(({ tries }) => tries))).toEqual(new Set([0]));
  });

  it('minutes of downtime do not drop an email, only the whole day does', async () => {
    await queue('alice');
    fail('away');
    portal.wait(day - minute);
    expect(await deliver()).toEqual({ pause: second });
    leave();
    expect(await deliver()).toBe('nothing');
    expect(sent()).toEqual(['alice@acme.test']);
  });
});

it('a fault outside the mail server is rethrown, delays no other email, and the email is retried later', async () => {
  await queue('alice');
  portal.wait(1);
  await queue('bob');
  portal.onSend((mail, words) => {
    if (mail.recipient === 'alice@acme.test') return Promise.reject(new TypeError('a bug'));
    portal.mails.push({ id: mail.id, recipient: mail.recipient, ...words });
    return Promise.resolve();
  });
  await expect(deliver()).rejects.toThrow('a bug');
  expect(await deliver()).toBe('nothing');
  expect(sent()).toEqual(['bob@acme.test']);
  leave();
  portal.wait(mailTakenOnFor);
  expect(await deliver()).toBe('nothing');
  expect(sent()).toEqual(['bob@acme.test', 'alice@acme.test']);
});
