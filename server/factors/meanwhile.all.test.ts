import { beforeEach, describe, expect, it, vi } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf } from '#test/support/portal-for-test.ts';
import { poolOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import {
  codeNow,
  giveApp,
  halfSession,
  startTwoFactorAfresh,
  verdict,
  verify,
} from '#test/support/two-factor-for-test.ts';
import type { Connection } from '../database/database.ts';

const portal = portalOfFile();
/** For concurrent changes. */
const pool = poolOfFile(portal);
let secret: string;
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  secret = await giveApp(portal, 'alice');
});

describe('RC-08 what happens while a code is looked at', () => {
  /** Posts a right code while something happens to the user, which it has to wait for; returns the outcome. */
  async function during(happens: (sql: Connection) => PromiseLike<unknown>): Promise<unknown> {
    const cookies = await halfSession(portal, 'alice');
    const release = await holdRows(pool, happens);
    const verifying = verify(portal, codeNow(portal, secret), cookies);
    await untilWaiting(pool, 1);
    await release();
    const answer = await verifying;
    expect(answer.cookies).toEqual([]);
    expect(await signedInAs(portal, { ...cookies, ...cookiesOf(answer) })).toBeNull();
    expect(await pool`select from session where stage = 'full'`).toEqual([]);
    return verdict(answer);
  }

  it('RC-08 a deactivated user gets no session', async () => {
    const off = (sql: Connection) => sql`update portal_user set active = false where username = 'alice'`;
    expect(await during(off)).toEqual([401, 'signInExpired']);
  });

  it('RC-08 neither does one whose half session ended', async () => {
    expect(await during((sql) => sql`delete from session`)).toEqual([401, 'signInExpired']);
    expect(await pool`select last_step from totp`).toEqual([{ last_step: 0 }]);
  });

  it('RC-08 neither does one deactivated between the count of a code and its check', async () => {
    const { sql } = portal.deps;
    const begin = sql.begin.bind(sql) as (work: unknown) => Promise<unknown>;
    const cookies = await halfSession(portal, 'alice');
    const spy = vi.spyOn(sql, 'begin').mockImplementationOnce(begin as never);
    spy.mockImplementationOnce((async (work: unknown) => {
      await pool`update portal_user set active = false where username = 'alice'`;
      return await begin(work);
    }) as never);
    expect(verdict(await verify(portal, codeNow(portal, secret), cookies))).toEqual([401, 'signInExpired']);
    expect(spy).toHaveBeenCalledTimes(2);
    spy.mockRestore();
    expect(await pool`select from session where stage = 'full'`).toEqual([]);
    expect(await pool`select last_step from totp`).toEqual([{ last_step: 0 }]);
  });

  it('RC-08 neither does one whose app was removed', async () => {
    const reset = async (sql: Connection) => {
      await sql`select from portal_user where username = 'alice' for update`;
      await sql`delete from totp`;
      await sql`delete from session`;
    };
    expect(await during(reset)).toEqual([401, 'signInExpired']);
  });
});
