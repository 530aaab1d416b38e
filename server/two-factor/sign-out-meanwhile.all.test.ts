import { describe, expect, it } from 'vitest';
import { tokenHash } from '#server/secrets/token.ts';
import { putEmailCode } from '#server/storage/email-code.ts';
import { holdRows, untilWaiting } from '#testing/held-rows.ts';
import { poolOfFile } from '#testing/pool-of-file.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { userId } from '#testing/reset-for-test.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  type Browser,
  codeByMail,
  codeNow,
  halfSession,
  registrationUrl,
  sessionId,
  startTwoFactorAfresh,
  verdict,
  verify,
} from '#testing/two-factor-for-test.ts';

const portal = portalOfFile({ each: startTwoFactorAfresh });
const pool = poolOfFile(portal);

const elsewhere = { from: '203.0.113.66' };
const signOut = (cookies: Browser) => portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies });
const registrationCode = async (cookies: Browser) =>
  codeNow(portal, (await portal.send({ url: registrationUrl, cookies })).json<{ totpSecret: string }>().totpSecret);
const hashOf = (cookies: Browser) => tokenHash(cookies['vestibule-session'] as string);

/** Signs out while a right code is half done, held up by locked rows: it signs nobody in. */
async function signsOutDuring(
  code: string,
  cookies: Browser,
  hold: (sql: Parameters<typeof putEmailCode>[0]) => PromiseLike<unknown>,
) {
  const release = await holdRows(pool, hold);
  const verifying = verify(portal, code, cookies);
  await untilWaiting(pool, 1);
  const signingOut = signOut(cookies);
  await untilWaiting(pool, 2);
  await release();
  const [answer, out] = [await verifying, await signingOut];
  expect([verdict(answer), out.statusCode]).toEqual([true, 303]);
  expect(await signedInAs(portal, { ...cookies, ...cookiesOf(answer) })).toBeNull();
  expect(await pool`select from session`).toEqual([]);
  expect(cookiesOf(out)['vestibule-session']).toBe('');
  const events = await pool`select event from audit_event where event = 'signed-out'`;
  expect(events).toHaveLength(1);
}

describe('SE-09 a sign-out while a code is looked at waits for it, and ends what it made', () => {
  it('SE-09 MF-20 of an app of one’s own', async () => {
    const other = cookiesOf(await portal.signIn('pat', testPassword, elsewhere));
    const cookies = cookiesOf(await portal.signIn('pat', testPassword));
    const code = await registrationCode(cookies);
    await signsOutDuring(
      code,
      cookies,
      (sql) => sql`select from session where token_hash = ${hashOf(other)} for update`,
    );
  });

  it('SE-09 MF-20 of the app that a half session has to set up', async () => {
    const other = await halfSession(portal, 'alice', elsewhere);
    const cookies = await halfSession(portal, 'alice');
    const code = await registrationCode(cookies);
    await signsOutDuring(
      code,
      cookies,
      (sql) => sql`select from session where token_hash = ${hashOf(other)} for update`,
    );
  });

  it('SE-09 MF-20 by email', async () => {
    const cookies = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    const id = await userId(portal, 'bob');
    await signsOutDuring(code, cookies, (sql) => sql`insert into email_factor values (${id}, ${portal.deps.now()})`);
  });

  it('SE-09 also with the previous cookie, when the answer to the code has not arrived', async () => {
    const cookies = await halfSession(portal, 'bob');
    const after = cookiesOf(await verify(portal, await codeByMail(portal, 'bob'), cookies));
    expect(await signedInAs(portal, cookies)).toBeNull();
    expect(await signedInAs(portal, after)).toBe('bob');
    expect((await signOut(cookies)).statusCode).toBe(303);
    expect(await signedInAs(portal, after)).toBeNull();
  });
});

describe('SE-09 a sign-out that comes before the look at a code', () => {
  it('SE-09 leaves no app, and no recovery codes that nobody can see', async () => {
    const cookies = cookiesOf(await portal.signIn('pat', testPassword));
    const code = await registrationCode(cookies);
    const release = await holdRows(pool, (sql) => sql`select from portal_user where username = 'pat' for update`);
    const verifying = verify(portal, code, cookies);
    await untilWaiting(pool, 1);
    expect((await signOut(cookies)).statusCode).toBe(303);
    await release();
    expect(verdict(await verifying)).toEqual([401, 'signInExpired']);
    const left = ['session', 'totp', 'pending_totp', 'recovery_code', 'shown_recovery_codes', 'mail'];
    for (const table of left) expect(await pool`select from ${pool(table)}`, table).toEqual([]);
  });

  it('EM-02 a code by email is not made for a session that has ended', async () => {
    const cookies = await halfSession(portal, 'bob');
    const id = await sessionId(portal, cookies);
    await signOut(cookies);
    const now = portal.deps.now();
    const code = {
      sessionId: id,
      userId: await userId(portal, 'bob'),
      codeHash: hashOf(cookies),
      madeAt: now,
    };
    const endsAt = new Date(now.getTime() + 1000);
    expect(await putEmailCode(pool, { ...code, endsAt }, { mostSends: 4, lastBefore: now })).toBe(false);
    expect(await pool`select from email_code`).toEqual([]);
  });
});
