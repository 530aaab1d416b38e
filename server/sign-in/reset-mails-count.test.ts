import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type PortalForTest, portalForTest } from '#test/support/portal-for-test.ts';
import {
  askForReset,
  changedPage,
  changeTo,
  comesOf,
  failedPage,
  linkFor,
  newPassword,
  startAfresh,
  tokenIn,
} from '#test/support/reset-for-test.ts';
import { holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import { connect } from '../database/connect.ts';
import { MailNotSent } from '../deps.ts';
import { jobsOf } from '../jobs/job.ts';
import { hour, limits } from '../limits.ts';
import { resetQueue } from './reset-request.ts';

let portal: PortalForTest;
beforeEach(async () => {
  portal = await portalForTest();
  await startAfresh(portal);
});
afterEach(() => portal.close());

describe('how many emails are sent', () => {
  it('two requests at once, or while the first email is queued, are one email; half a second later there is another', async () => {
    expect((await comesOf(portal, ['alice@acme.test', 'ALICE@acme.test', 'bob@acme.test'])).events).toEqual([
      ...[
        ['link-mailed', 'alice'],
        ['on-its-way', 'alice'],
      ],
      ['link-mailed', 'bob'],
    ]);
    portal.wait(limits.samePress - 1);
    expect((await comesOf(portal, ['alice@acme.test'])).to).toHaveLength(2);
    portal.wait(1);
    expect((await comesOf(portal, ['alice@acme.test'])).to).toHaveLength(3);
    portal.onSend(() => Promise.reject(new MailNotSent('away', 'away')));
    for (let n = 0; n < 3; n += 1) {
      portal.wait(hour / 2);
      await comesOf(portal, ['alice@acme.test', 'sso-only@acme.test']);
    }
    expect(await portal.sql`select payload->>'kind' as kind from job order by kind`).toEqual([
      { kind: 'resetLink' },
      { kind: 'singleSignOnHint' },
    ]);
  });

  it('requests for one account answered concurrently are one email and one link', async () => {
    for (let n = 0; n < 8; n += 1) await askForReset(portal, 'alice@acme.test');
    const aside = connect(portal.database.place);
    // No link is written before all of them have checked whether there is one.
    const release = await holdRows(aside, (sql) => sql`lock table reset_link in exclusive mode`);
    const answers = Array.from({ length: 8 }, () => jobsOf(portal.deps, resetQueue(portal.deps))());
    await untilWaiting(aside, 8);
    await release();
    await Promise.all(answers);
    await aside.end();
    const { to, events } = await comesOf(portal, []);
    expect(to).toEqual(['alice@acme.test']);
    expect(events.map(([reason]) => reason).sort()).toEqual(['link-mailed', ...Array(7).fill('on-its-way')]);
    expect(await portal.sql`select from reset_link`).toHaveLength(1);
  });

  it('LK-02 at most three an hour per account, whoever asks; the answer is the same, and the newest link works', async () => {
    const { resetMailsAnHour } = limits;
    for (let n = 0; n < resetMailsAnHour + 3; n += 1) {
      const answer = await askForReset(portal, 'alice@acme.test', { from: `192.0.2.${n}` });
      expect([answer.statusCode, answer.headers.location]).toEqual([303, '/portal/emailInfo']);
      await portal.workOff();
      portal.wait(limits.samePress);
    }
    const { to, events } = await comesOf(portal, ['bob@acme.test']);
    expect(to).toEqual([...Array(resetMailsAnHour).fill('alice@acme.test'), 'bob@acme.test']);
    expect(events.filter(([reason]) => reason === 'too-many-mails')).toHaveLength(3);
    portal.wait(hour);
    expect((await comesOf(portal, ['alice@acme.test'])).to).toHaveLength(resetMailsAnHour + 2);
    expect((await changeTo(portal, tokenIn(portal.mails.at(-1)), newPassword)).headers.location).toBe(changedPage);
  });

  it('LK-02 single sign-on users are notified no more often, and once per request', async () => {
    const ask = () => comesOf(portal, ['sso-only@acme.test']);
    expect((await ask()).to).toHaveLength(1);
    portal.wait(limits.samePress - 1);
    expect((await ask()).to).toHaveLength(1);
    portal.wait(1);
    expect((await ask()).to).toHaveLength(2);
    for (let n = 0; n < 30; n += 1) {
      portal.wait(hour / 40);
      await ask();
    }
    const { to, events } = await ask();
    expect(to).toHaveLength(limits.resetMailsAnHour);
    expect(new Set(events.map(([reason]) => reason))).toEqual(
      new Set(['single-sign-on-mailed', 'on-its-way', 'too-many-mails']),
    );
    portal.wait(hour);
    expect((await ask()).to).toHaveLength(limits.resetMailsAnHour + 1);
  });

  it('a link that an operator makes meanwhile is the newest', async () => {
    await comesOf(portal, ['alice@acme.test']);
    const made = await linkFor(portal, 'alice');
    expect((await changeTo(portal, tokenIn(portal.mails[0]), newPassword)).headers.location).toBe(failedPage(3));
    expect((await changeTo(portal, made, newPassword)).headers.location).toBe(changedPage);
  });
});
