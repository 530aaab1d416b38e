import { describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { linkFor, startAfresh, storedHash, userId } from '#testing/reset-for-test.ts';
import { type ChangeOfUser, changeUser } from '../accounts/change-user.ts';
import { passwordReplaced } from './password-replaced.ts';

const portal = portalOfFile({ each: startAfresh });

const change = async (what: ChangeOfUser, name = 'alice') =>
  (await changeUser(portal.sql, name, what, portal.deps.now())).kind;

/** What depends on a user's password. */
async function hanging(username: string) {
  const id = await userId(portal, username);
  const [row] = await portal.sql`
    select (select count(*) from session where user_id = ${id}) as sessions,
      (select count(*) from device where user_id = ${id}) as devices,
      (select count(*) from throttle where key like ${`%${id}`}) as waits,
      (select count(*) from reset_link where user_id = ${id} and used_at is null and ends_at > made_at) as links,
      (select count(*) from former_password where user_id = ${id}) as former`;
  return row;
}

/** Signs in twice, once from a known browser, fails there and elsewhere, and has a link. */
async function leaveTraces(username: string): Promise<void> {
  const cookies = cookiesOf(await portal.signIn(username, testPassword));
  await portal.signIn(username, testPassword);
  await portal.signIn(username, 'wrong', { cookies });
  await portal.signIn(username, 'wrong');
  await linkFor(portal, username);
}

const all = { sessions: 2, devices: 2, waits: 2, links: 1, former: 0 };
const ended = { sessions: 0, devices: 0, waits: 0, links: 1 };

describe('a replaced password', () => {
  it.each([
    ['another', 'another hash'],
    ['none', null],
  ])(
    'SE-13 PR-18 set by an operator, %s: ends everything that depended on the old one, for this user only',
    async (_what, passwordHash) => {
      for (const username of ['alice', 'bob']) await leaveTraces(username);
      expect([await hanging('alice'), await hanging('bob')]).toEqual([all, all]);
      const before = await storedHash(portal, 'alice');
      expect(await change({ passwordHash })).toBe('changed');
      expect([await hanging('alice'), await hanging('bob')]).toEqual([{ ...ended, former: 1 }, all]);
      const alice = await userId(portal, 'alice');
      expect(await portal.sql`select user_id, password_hash, replaced_at from former_password`).toEqual([
        { user_id: alice, password_hash: before, replaced_at: portal.deps.now() },
      ]);
      const [event] = await portal.sql`select steps from audit_event where event = 'user-changed'`;
      expect(event?.steps).toContainEqual({ step: 'sessions ended', outcome: '2' });
      expect(JSON.stringify(event)).not.toMatch(/another hash|argon2/);
    },
  );

  it('returns how many sessions ended, and drops the oldest hashes', async () => {
    const [alice, now] = [await userId(portal, 'alice'), portal.deps.now()];
    await leaveTraces('alice');
    const counts: number[] = [];
    for (let n = 0; n < limits.passwordsRemembered + 2; n += 1)
      counts.push(await passwordReplaced(portal.sql, alice, `hash ${n}`, now));
    expect(counts).toEqual([2, ...Array(limits.passwordsRemembered + 1).fill(0)]);
    const kept = await portal.sql<{ hash: string }[]>`select password_hash as hash from former_password order by id`;
    expect(kept.map(({ hash }) => hash)).toEqual(Array.from({ length: 9 }, (_, n) => `hash ${n + 3}`));
  });

  it('an unchanged password, and any other change, ends only what depends on it', async () => {
    await leaveTraces('alice');
    await change({ language: 'de', mayChangePassword: false });
    expect(await hanging('alice')).toEqual(all);
    await change({ active: false });
    expect(await hanging('alice')).toEqual({ ...all, sessions: 0 });
    await change({ email: 'other@acme.test' });
    expect(await hanging('alice')).toEqual({ ...all, sessions: 0, links: 0 });
  });
});

describe('the notice', () => {
  const mails = async () => {
    await portal.workOff();
    return portal.mails.map(({ recipient, subject }) => [recipient, subject]);
  };

  it("follows a password set by an operator, in the user's language and without an address", async () => {
    await portal.sql`update portal_user set language = 'de' where username = 'alice'`;
    await change({ passwordHash: 'another' });
    expect(await mails()).toEqual([['alice@acme.test', expect.stringContaining('Passwort')]]);
    const [mail = { text: '', html: '' }] = portal.mails;
    expect(mail.html).toContain('lang="de"');
    expect(mail.text).toContain('alice');
    expect(mail.text).not.toMatch(/hash=|\d+\.\d+\.\d+\.\d+|another/);
  });

  it('does not follow a removed password, other changes, or a change that failed', async () => {
    await change({ passwordHash: null });
    await change({ language: 'de' });
    await change({ passwordHash: 'x', email: 'bob@acme.test' });
    await change({ passwordHash: 'x' }, 'nobody');
    await change({ passwordHash: 'x' }, 'dave');
    expect(await mails()).toEqual([]);
  });

  it('V2.3.3 is rolled back with its change', async () => {
    await portal.sql`alter table audit_event rename to audit_event_away`;
    await expect(change({ passwordHash: 'another' })).rejects.toThrow('audit_event');
    await portal.sql`alter table audit_event_away rename to audit_event`;
    expect(await mails()).toEqual([]);
    expect(await hanging('alice')).toMatchObject({ former: 0 });
    expect(await storedHash(portal, 'alice')).toMatch(/^\$argon2id/);
  });
});
