import { describe, expect, it } from 'vitest';
import { hashPassword } from '#server/secrets/password-hash.ts';
import { newToken } from '#server/secrets/token.ts';
import { cookiesOf, testPassword, testPasswordHash } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  changedPage,
  changeTo,
  failedPage,
  hiddenHash,
  linkFor,
  newPassword,
  startAfresh,
  storedHash,
} from '#testing/reset-for-test.ts';

const portal = portalOfFile({ each: startAfresh });

const weak = 'lanternq';

type Case = {
  reason: number;
  what: string;
  username?: string;
  /** The posted form, if it is not the new password twice. */
  password?: string;
  repeat?: string;
  hash?: (token: string) => string;
  /** Runs while the link is open, and is undone afterwards. */
  spoil?: string;
  mend?: string;
};

const cases: Case[] = [
  { reason: 1, what: 'weak', password: weak },
  { reason: 2, what: 'the account is gone', spoil: `delete from portal_user where username = 'alice'` },
  { reason: 3, what: 'the link was used', spoil: `update reset_link set used_at = made_at` },
  { reason: 3, what: 'the link is over', spoil: `update reset_link set ends_at = made_at` },
  { reason: 4, what: 'the link is unknown', hash: newToken },
  { reason: 4, what: 'the link is malformed', hash: (token) => `${token}x` },
  { reason: 4, what: 'there is no link', hash: () => '' },
  { reason: 5, what: 'the entries differ', repeat: `${newPassword}x` },
  { reason: 6, what: 'PW-12 a tab inside', password: `${newPassword}\tx` },
  { reason: 6, what: 'PW-12 a line break at the end', password: `${newPassword}\n` },
  { reason: 6, what: 'PW-12 a letter that is none', password: `${newPassword}\uffff` },
  {
    reason: 7,
    what: 'inactive',
    spoil: `update portal_user set active = false`,
    mend: `update portal_user set active = true`,
  },
  {
    reason: 8,
    what: 'may not change it',
    spoil: `update portal_user set may_change_password = false`,
    mend: `update portal_user set may_change_password = true`,
  },
  { reason: 9, what: 'too short', password: 'Xy-42!' },
  { reason: 9, what: 'too long', password: 'Xy-4'.repeat(18).concat('!') },
  { reason: 9, what: 'PW-04 a popular entry inside', password: 'Harbour-PassWort-77' },
  { reason: 9, what: 'PW-05 a common password', password: 'Welcome1' },
  { reason: 9, what: 'PW-05 the own name', password: 'Alice@Acme.Test' },
  {
    reason: 10,
    what: 'no customer',
    spoil: `update customer set active = false`,
    mend: `update customer set active = true`,
  },
  { reason: 11, what: 'the password of today', password: testPassword },
];

describe('why a change fails', () => {
  it.each(cases)(
    'reason $reason: $what',
    async ({ reason, what, password = newPassword, repeat = password, hash, spoil, mend }) => {
      const token = await linkFor(portal, 'alice');
      const before = await storedHash(portal, 'alice');
      if (spoil) await portal.sql.unsafe(spoil);
      const refused = await changeTo(portal, hash?.(token) ?? token, password, { repeat });
      expect([refused.statusCode, refused.headers.location]).toEqual([303, failedPage(reason)]);
      if (reason !== 2) expect(await storedHash(portal, 'alice')).toBe(before);
      expect(await portal.sql`select event, reason from audit_event`).toEqual([
        { event: 'password-change-refused', reason: String(reason) },
      ]);

      const page = await portal.send({ url: failedPage(1), cookies: cookiesOf(refused) });
      const waiting = refused.cookies.find(({ name }) => name === 'vestibule-reset');
      if (reason === 2 || reason === 3 || hash) {
        // A possible hash is kept, since reason 4 may also mean that the change could not be stored.
        if (what !== 'the link is unknown') expect(waiting).toMatchObject({ value: '', maxAge: 0 });
        expect(hiddenHash(page)).not.toBe(token);
        return;
      }
      expect(waiting).toMatchObject({ value: token, maxAge: 600, httpOnly: true, path: '/' });
      expect(hiddenHash(page)).toBe(token);
      if (mend) await portal.sql.unsafe(mend);
      expect((await changeTo(portal, token, newPassword)).headers.location).toBe(changedPage);
    },
  );

  it('the first of several reasons is given: link, account, network, entries, former passwords', async () => {
    const token = await linkFor(portal, 'carol');
    const told: unknown[] = [];
    const post = async (hash: string, password: string, repeat: string) =>
      told.push((await changeTo(portal, hash, password, { repeat })).headers.location);
    const step = async (change: string, password: string, repeat: string) => {
      await portal.sql.unsafe(change);
      await post(token, password, repeat);
    };
    const impossible = ['\u0007abc', '\u0007abd'] as const;
    await portal.sql`
      update portal_user set active = false, may_change_password = false where username = 'carol'`;
    await portal.sql`update customer set active = false`;
    await portal.sql`update reset_link set ends_at = made_at`;
    await post(newToken(), ...impossible);
    await post(token, ...impossible);
    await step(`update reset_link set ends_at = made_at + interval '1 hour', user_id = null`, ...impossible);
    await step(`update reset_link set user_id = (select id from portal_user where username = 'carol')`, ...impossible);
    await step('update portal_user set active = true', ...impossible);
    await step('update portal_user set may_change_password = true', ...impossible);
    await step('update customer set active = true', ...impossible);
    const network = '/portal/loginfail/ip?ipaddress=198.51.100.7';
    expect(told.splice(0)).toEqual([...[4, 3, 2, 7, 8, 10].map(failedPage), network]);
    await step(`update customer set allowed_networks = '{}'`, ...impossible);
    await post(token, 'abc', 'abd');
    await post(token, 'abc', 'abc');
    await portal.sql`update portal_user set password_hash = ${await hashPassword(weak, null)}`;
    await post(token, weak, weak);
    await portal.sql`update portal_user set password_hash = ${await testPasswordHash()}`;
    await post(token, testPassword, testPassword);
    await post(token, newPassword, newPassword);
    expect(told).toEqual([...[6, 5, 9, 1, 11].map(failedPage), changedPage]);
  });
});
