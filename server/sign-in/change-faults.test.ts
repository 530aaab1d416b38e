import { describe, expect, it } from 'vitest';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  askForReset,
  changedPage,
  changeTo,
  hiddenHash,
  linkFor,
  newPassword,
  startAfresh,
} from '#test/support/reset-for-test.ts';
import { jobLease, jobsOf } from '../jobs/job.ts';
import { resetQueue } from './reset-request.ts';

const portal = portalOfFile({ each: startAfresh });

const tables = ['portal_user', 'former_password', 'reset_link', 'session', 'device', 'throttle', 'job', 'audit_event'];

/** Every row in the database, except that a change was tried, which stays counted, and when a job is tried again. */
async function state(): Promise<unknown> {
  const rows = await Promise.all(
    tables.map((table) =>
      portal.sql.unsafe(
        `select ${table === 'job' ? 'id::text' : 't::text'} from ${table} t where t::text not like '(change-password-by-link:%' order by 1`,
      ),
    ),
  );
  return rows.map((row, at) => [tables[at], ...row]);
}

/** Makes a write fail during `work`, as a full disk does or an unforeseen fault. */
async function withFault(timing: string, errorCode: string, work: () => Promise<void>): Promise<void> {
  const table = /on (\w+)/.exec(timing)?.[1];
  await portal.sql.unsafe(`
    create function fault() returns trigger language plpgsql as $$
    begin raise exception 'injected' using errcode = '${errorCode}'; end $$;
    create ${timing.startsWith('after') ? 'constraint' : ''} trigger fault ${timing} execute function fault()`);
  try {
    await work();
  } finally {
    await portal.sql.unsafe(`drop trigger fault on ${table}; drop function fault()`);
  }
}

const deferred = (table: string) => `after insert on ${table} deferrable initially deferred for each row`;

describe('a fault during a change', () => {
  it.each([
    ['the password', 'before update on portal_user for each row'],
    ['the use of the link', `before update on reset_link for each row`],
    ['the history', 'before insert on former_password for each row'],
    ['the sessions', 'before delete on session for each row'],
    ['the known browsers', 'before delete on device for each row'],
    ['the waits', 'before delete on throttle for each row'],
    ['the notice', 'before insert on job for each row'],
    ['the record', 'before insert on audit_event for each row'],
    ['the commit', deferred('job')],
  ])('V2.3.3 at the write of %s leaves nothing half done, and the link open', async (_what, timing) => {
    await portal.signIn('alice', testPassword);
    await portal.signIn('alice', 'wrong');
    const token = await linkFor(portal, 'alice');
    const before = await state();
    await withFault(timing, '53100', async () => {
      const page = await changeTo(portal, token, newPassword);
      expect([page.statusCode, page.headers['retry-after']]).toEqual([503, '5']);
      expect(hiddenHash(page)).toBe(token);
      expect(page.body).not.toContain(newPassword);
      const call = await changeTo(portal, token, newPassword, { headers: { accept: 'application/json' } });
      expect([call.statusCode, call.headers['retry-after'], call.json().status]).toEqual([503, '5', 503]);
    });
    await withFault(timing, 'P0001', async () => {
      expect((await changeTo(portal, token, newPassword)).statusCode).toBe(500);
    });
    expect(await state()).toEqual(before);
    expect((await changeTo(portal, token, newPassword)).headers.location).toBe(changedPage);
  });

  it('V2.3.3 a refusal that cannot be recorded changes nothing either', async () => {
    const token = await linkFor(portal, 'alice');
    const before = await state();
    await withFault('before insert on audit_event for each row', '53100', async () => {
      const page = await changeTo(portal, token, 'lanternq');
      expect([page.statusCode, hiddenHash(page)]).toEqual([503, token]);
    });
    expect(await state()).toEqual(before);
  });
});

describe('a fault during a request for a link', () => {
  it.each([
    ['the link', 'before insert on reset_link for each row'],
    ['the mail', 'before insert on job for each row'],
    ['the record', 'before insert on audit_event for each row'],
    ['the commit', deferred('job')],
  ])('V2.3.3 at the write of %s: the request stays queued and is answered once later', async (_what, timing) => {
    expect((await askForReset(portal, 'alice@acme.test')).statusCode).toBe(303);
    const before = await state();
    await withFault(timing, '53100', async () => {
      await expect(jobsOf(portal.deps, resetQueue(portal.deps))()).rejects.toThrow('injected');
    });
    expect(await state()).toEqual(before);
    portal.wait(jobLease);
    await portal.workOff();
    await portal.workOff();
    expect(portal.mails).toHaveLength(1);
  });

  it('that prevents storing it: 503, and the form with what was typed', async () => {
    await withFault('before insert on job for each row', '53100', async () => {
      const page = await askForReset(portal, 'alice@acme.test');
      expect([page.statusCode, page.headers['retry-after']]).toEqual([503, '5']);
      expect(page.body).toMatch(/<form[^>]*action="\/portal\/password\/forgotten"/);
      expect(page.body).toMatch(/<input[^>]*name="username"[^>]*value="alice@acme.test"/);
    });
    expect(await portal.sql`select from job`).toHaveLength(0);
  });
});
