import { beforeAll, describe, expect, it } from 'vitest';
import { addAttackFixtures, addUser } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyTables } from '#test/support/rows-for-test.ts';
import { foldLoginName } from '../names/read-name.ts';

const portal = portalOfFile();
beforeAll(async () => {
  await addAttackFixtures(portal);
  await addUser(portal, { username: 'kass', email: 'kass@bücher.test' });
});

/** Who is signed in by a typed name with every test user's password; null for nobody. */
async function enters(name: string): Promise<string | null> {
  await portal.sql`delete from throttle`;
  await emptyTables(portal, 'audit_event');
  const { headers } = await portal.signIn(name, testPassword);
  const [event] = await portal.sql`select username from audit_event where event = 'signed-in'`;
  expect(headers.location).toBe(event ? '/portal/portal.html' : '/portal/loginfail/default');
  return event?.username ?? null;
}

describe('names in Unicode', () => {
  it('UN-02 UN-03 a name that only looks like another matches nobody', async () => {
    for (const twin of [
      'alıce',
      'alİce',
      'аlice',
      'αlice',
      'al\u00adice',
      'ali\u200dce',
      'al\u200bice',
      'ali\u0441e',
      'a1ice',
      'alice\u0301',
      'alice\u202e',
      'kaß',
      'kaẞ',
      'kas\u0073\u0323',
      'bob\u034f',
    ])
      expect([twin, await enters(twin)]).toEqual([twin, null]);
  });

  it('UN-02 UN-04 another form of the very same letters is the same name and account', async () => {
    const forms = {
      alice: ['ALICE', 'Alice', 'ａｌｉｃｅ', '\u00a0alice\u3000', 'ⓐⓛⓘⓒⓔ', '𝐚𝐥𝐢𝐜𝐞'],
      kass: ['KASS', 'Kass', '\u212aass', 'ka\u017f\u017f'],
    };
    for (const [name, written] of Object.entries(forms))
      for (const form of written) expect([form, await enters(form)]).toEqual([form, name]);
  });

  it('UN-05 an email has one form, whatever the case, dot or encoding of its domain', async () => {
    for (const form of [
      'kass@bücher.test',
      'KASS@BÜCHER.TEST',
      'kass@xn--bcher-kva.test',
      'kass@XN--BCHER-KVA.test',
      'kass@bücher.test.',
      'kass@bu\u0308cher.test',
      'kass＠bücher．test',
    ])
      expect([form, await enters(form)]).toEqual([form, 'kass']);
    for (const other of [
      'kass@bucher.test',
      'kass@evil.test@bücher.test',
      'kass@bücher.test@evil.test',
      'kass@bücher.test:80',
      'kass@bücher.test/x',
      'x@kass@bücher.test',
    ])
      expect([other, await enters(other)]).toEqual([other, null]);
  });

  it('UN-08 two names with the same fold cannot coexist: the database refuses the second', async () => {
    for (const twin of ['ALICE', 'ａｌｉｃｅ', 'alice\u00a0', 'ALICE@acme.test'])
      await expect(addUser(portal, { username: `${twin}`, email: `${twin.length}@other.test` })).rejects.toMatchObject({
        code: '23505',
      });
    await expect(portal.sql`insert into login_name select fold, user_id from login_name limit 1`).rejects.toThrow(
      /login_name_pkey/,
    );
    expect(foldLoginName(foldLoginName('ＡLICE@Bücher.Test.'))).toBe(foldLoginName('ＡLICE@Bücher.Test.'));
  });
});
