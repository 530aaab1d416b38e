import { describe, expect, it } from 'vitest';
import { codeAnswerHeaders } from '#contract/payloads.ts';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  type Browser,
  codeByMail,
  halfSession,
  otherThan,
  pageOf,
  registerApp,
  registrationUrl,
  startTwoFactorAfresh,
  verdict,
  verify,
} from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';

// Docs/decisions/0014: whoever must register an app first proves what they can prove, a code by email.

const portal = portalOfFile({ each: startTwoFactorAfresh });

const asked = '/portal/x?a=1';
const mailScreen = `/portal/twoFactor?redirectURL=${encodeURIComponent(asked)}&codeSentViaEmail=true`;
const appScreen = `/portal/twoFactorRegistration?redirectURL=${encodeURIComponent(asked)}`;

/** Bob has confirmed codes by email, and his customer requires an app since. */
async function tightened(query = ''): Promise<Browser> {
  const half = await halfSession(portal, 'bob');
  const answer = await verify(portal, await codeByMail(portal, 'bob'), half, { query });
  portal.wait(60_000);
  await portal.sql`update customer set two_factor = 'app' where key = 'mail'`;
  return cookiesOf(answer);
}

async function landing(username: string, cookies: Browser = {}): Promise<{ to: string | undefined; half: Browser }> {
  const form = { username, password: testPassword, redirectURL: asked };
  const answer = await portal.signIn(username, testPassword, { form, cookies });
  return { to: answer.headers.location, half: { ...cookies, ...cookiesOf(answer) } };
}

/** The same browser after a right code by email. */
async function proven(half: Browser, username = 'bob'): Promise<Browser> {
  return { ...half, ...cookiesOf(await verify(portal, await codeByMail(portal, username), half)) };
}

const secretOf = async (cookies: Browser) => {
  const answer = await portal.send({ url: registrationUrl, cookies });
  return [answer.statusCode, answer.body.includes('totpSecret')];
};
const [shown, refused, gone] = [
  [200, true],
  [409, false],
  [401, false],
];

describe('MF-12 a user who has confirmed codes by email, and whose customer requires an app since', () => {
  it('MF-12 sees no key with the password alone, on no page and by no call', async () => {
    await tightened();
    const { to, half } = await landing('bob');
    expect(to).toBe(mailScreen);
    expect(await secretOf(half)).toEqual(refused);
    for (const url of [appScreen, `${appScreen}&codeSentViaEmail=true`])
      expect((await pageOf(portal, { url, cookies: half })).location).toContain('/portal/twoFactor?');
    const page = await pageOf(portal, { url: mailScreen, cookies: half });
    expect([page.status, page.registration]).toEqual([200, undefined]);
    expect(page.secondFactor).toMatchObject({ account: 'bob', mayRemember: false, mayRecover: false });
    expect(await portal.sql`select from pending_totp`).toEqual([]);
  });

  it('MF-12 EM-04 is asked for the code by email first, then sets up the app, and only then is in', async () => {
    await tightened();
    const other = await halfSession(portal, 'bob', { from: '192.0.2.1' });
    portal.wait(1000);
    const { half } = await landing('bob');
    const answer = await verify(portal, await codeByMail(portal, 'bob'), half);
    expect([verdict(answer), answer.headers[codeAnswerHeaders.next]]).toEqual([true, 'registration']);
    expect(Object.keys(cookiesOf(answer))).toEqual(['vestibule-session']);
    const next = { ...half, ...cookiesOf(answer) };
    expect([await signedInAs(portal, half), await signedInAs(portal, next)]).toEqual([null, null]);
    expect(await secretOf(half), 'the former token is worth nothing').toEqual(gone);
    // Another sign-in of theirs that waits is not spared.
    expect((await portal.send({ url: registrationUrl, cookies: other, from: '192.0.2.1' })).statusCode).toBe(409);
    for (const url of [mailScreen, '/portal/twoFactor'])
      expect((await pageOf(portal, { url, cookies: next })).location).toContain('/portal/twoFactorRegistration');
    expect((await pageOf(portal, { url: appScreen, cookies: next })).registration).toBeDefined();
    const { cookies } = await registerApp(portal, next);
    expect(await signedInAs(portal, cookies)).toBe('bob');
    const events = await portal.sql`select event from audit_event order by id desc limit 3`;
    expect(events.map(({ event }) => event)).toEqual(['signed-in', 'second-factor-asked', 'second-factor-asked']);
  });

  it('MF-06 has five attempts, and ten minutes, for each of the two steps', async () => {
    await tightened();
    const half = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    for (let count = 1; count < limits.codeTries; count += 1) await verify(portal, otherThan(code), half);
    portal.wait(limits.halfSession - 5000);
    const next = { ...half, ...cookiesOf(await verify(portal, code, half)) };
    expect(await portal.sql`select code_tries from session where stage = 'half'`).toEqual([{ code_tries: 0 }]);
    portal.wait(limits.halfSession - 1000);
    expect(await secretOf(next)).toEqual(shown);
    portal.wait(1000);
    expect(await secretOf(next)).toEqual(gone);
  });
});

describe('MF-12 a user of a customer that requires an app', () => {
  it.each([
    ['admits', [], true],
    ['admits from elsewhere', ['203.0.113.0/24'], true],
    ['is disabled', [], false],
  ])(
    'MF-12 who also belongs to one that requires codes by email confirms it first, wherever that one %s',
    async (_what, networks, active) => {
      await addCustomer(portal, 'strict', { twoFactor: 'email', networks });
      await addUser(portal, { username: 'dora', customers: ['app', 'plain', 'strict'] });
      await portal.sql`update customer set active = ${active} where key = 'strict'`;
      const { to, half } = await landing('dora');
      expect(to).toBe(`${appScreen}&codeSentViaEmail=true`);
      expect(await secretOf(half)).toEqual(refused);
      const next = await proven(half, 'dora');
      expect(await signedInAs(portal, next)).toBeNull();
      await registerApp(portal, next);
    },
  );
});
