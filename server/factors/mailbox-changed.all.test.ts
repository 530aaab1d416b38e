import { describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { poolOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import {
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  halfSession,
  registerApp,
  registrationUrl,
  startTwoFactorAfresh,
  verdict,
  verify,
} from '#test/support/two-factor-for-test.ts';
import { changeUser } from '../accounts/users.ts';

const portal = portalOfFile({ each: startTwoFactorAfresh });
const pool = poolOfFile(portal);

const elsewhere = { from: '203.0.113.66' };
const changeEmail = (email = 'bob@new.test') => changeUser(pool, 'bob', { email }, portal.deps.now());
const remember = { query: '?remember=true' };
const rememberedOf = (cookies: Browser) => ({ 'vestibule-remembered': cookies['vestibule-remembered'] as string });
const recipients = () => portal.mails.map(({ recipient }) => recipient);

describe('EM-10 another email of a user ends what codes to the one before could open', () => {
  it('EM-10 a sent code, with its half session', async () => {
    const half = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    expect(await changeEmail()).toMatchObject({
      kind: 'changed',
      sessionsEnded: 1,
      steps: [
        { step: 'email', outcome: 'bob@acme.test → bob@new.test' },
        { step: 'sessions ended', outcome: '1' },
      ],
    });
    expect(verdict(await verify(portal, code, half, remember))).toEqual([401, 'signInExpired']);
    for (const table of ['session', 'email_code', 'remembered_device'])
      expect(await pool`select from ${pool(table)}`, table).toEqual([]);
  });

  it('EM-10 a code whose email is waiting: it is not sent', async () => {
    await halfSession(portal, 'bob');
    await changeEmail();
    portal.wait(1000);
    await portal.workOff();
    expect(portal.mails).toEqual([]);
  });

  it('EM-10 a browser remembered by one, but none remembered by an app', async () => {
    const half = await halfSession(portal, 'bob');
    const after = cookiesOf(await verify(portal, await codeByMail(portal, 'bob'), half, remember));
    expect(await changeEmail()).toMatchObject({
      sessionsEnded: 0,
      steps: [{ step: 'email' }, { step: 'devices forgotten', outcome: '1' }],
    });
    expect(await signedInAs(portal, after)).toBe('bob');
    const asked = await portal.signIn('bob', testPassword, { cookies: rememberedOf(after) });
    expect(asked.headers.location).toContain('codeSentViaEmail=true');

    const secret = await giveApp(portal, 'bob');
    const waiting = await halfSession(portal, 'bob');
    const own = cookiesOf(await verify(portal, codeNow(portal, secret), waiting, remember));
    expect(await changeEmail('bob@newer.test')).toMatchObject({ kind: 'changed' });
    const again = await portal.signIn('bob', testPassword, { cookies: rememberedOf(own) });
    expect(again.headers.location).toBe('/portal/portal.html');
  });

  it('EM-10 MF-12 what a full session may set up for having proven one, also if it has begun', async () => {
    const half = await halfSession(portal, 'bob');
    const full = { ...half, ...cookiesOf(await verify(portal, await codeByMail(portal, 'bob'), half)) };
    const { totpSecret } = (await portal.send({ url: registrationUrl, cookies: full })).json<{ totpSecret: string }>();
    await changeEmail('robert@acme.test');
    expect((await portal.send({ url: registrationUrl, cookies: full })).statusCode).toBe(409);
    expect((await verify(portal, codeNow(portal, totpSecret), full)).statusCode).toBe(409);
    expect(await pool`select from totp`).toEqual([]);
    expect(await signedInAs(portal, full)).toBe('bob');
    const again = await halfSession(portal, 'bob');
    await registerApp(portal, cookiesOf(await verify(portal, await codeByMail(portal, 'robert'), again)));
  });

  it('EM-10 MF-12 nor while its app is being confirmed', async () => {
    const half = await halfSession(portal, 'bob');
    const full = { ...half, ...cookiesOf(await verify(portal, await codeByMail(portal, 'bob'), half)) };
    const { totpSecret } = (await portal.send({ url: registrationUrl, cookies: full })).json<{ totpSecret: string }>();
    const release = await holdRows(pool, (sql) => sql`select from session for update`);
    const changing = changeEmail();
    await untilWaiting(pool, 1);
    const confirming = verify(portal, codeNow(portal, totpSecret), full);
    await untilWaiting(pool, 2);
    await release();
    await changing;
    expect(verdict(await confirming)).toBe(false);
    expect(await pool`select from totp`).toEqual([]);
  });

  it('EM-10 a sign-in in progress has its code sent to the new one', async () => {
    await halfSession(portal, 'bob', elsewhere);
    const release = await holdRows(pool, (sql) => sql`select from session for update`);
    const changing = changeEmail();
    await untilWaiting(pool, 1);
    const signingIn = portal.signIn('bob', testPassword);
    await Promise.race([signingIn, untilWaiting(pool, 2)]);
    await release();
    expect(await changing).toMatchObject({ sessionsEnded: 1 });
    expect((await signingIn).headers.location).toContain('codeSentViaEmail=true');
    portal.wait(1000);
    await portal.workOff();
    expect(recipients()).toEqual(['bob@new.test']);
  });

  it('EM-10 an app that is being confirmed is reported to the new one', async () => {
    const name = 'pat';
    const cookies = cookiesOf(await portal.signIn(name, testPassword));
    const { totpSecret } = (await portal.send({ url: registrationUrl, cookies })).json<{ totpSecret: string }>();
    const release = await holdRows(pool, (sql) => sql`select from portal_user where username = ${name} for update`);
    const changing = changeUser(pool, name, { email: 'new@acme.test' }, portal.deps.now());
    await untilWaiting(pool, 1);
    const confirming = verify(portal, codeNow(portal, totpSecret), cookies);
    await untilWaiting(pool, 2);
    await release();
    expect((await changing).kind).toBe('changed');
    expect(verdict(await confirming)).toBe(true);
    await portal.workOff();
    expect([...new Set(recipients())]).toEqual(['new@acme.test']);
  });

  it('the same email again ends nothing', async () => {
    const half = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    await changeUser(pool, 'bob', { email: 'bob@acme.test', language: 'de' }, portal.deps.now());
    expect(verdict(await verify(portal, code, half))).toBe(true);
  });
});
