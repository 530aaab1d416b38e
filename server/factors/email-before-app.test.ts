import { describe, expect, it } from 'vitest';
import { codeAnswerHeaders } from '#contract/payloads.ts';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  type Browser,
  codeByMail,
  giveApp,
  halfSession,
  otherThan,
  pageOf,
  registerApp,
  registrationUrl,
  startTwoFactorAfresh,
  verdict,
  verify,
  verifyByForm,
} from '#test/support/two-factor-for-test.ts';
import { resetTwoFactor } from '../accounts/act-on-user.ts';
import { changeUser } from '../accounts/users.ts';
import { limits } from '../limits.ts';

// Docs/decisions/0014: whoever must register an app first proves what they can prove, a code by email.

const portal = portalOfFile({ each: startTwoFactorAfresh });

const asked = '/portal/x?a=1';
const mailScreen = `/portal/twoFactor?redirectURL=${encodeURIComponent(asked)}&codeSentViaEmail=true`;
const appScreen = `/portal/twoFactorRegistration?redirectURL=${encodeURIComponent(asked)}`;

async function confirmEmail(username: string, query = ''): Promise<Browser> {
  const half = await halfSession(portal, username);
  const answer = await verify(portal, await codeByMail(portal, username), half, { query });
  expect(verdict(answer)).toBe(true);
  portal.wait(60_000);
  return cookiesOf(answer);
}

const setPolicy = async (key: string, policy: string) =>
  await portal.sql`update customer set two_factor = ${policy} where key = ${key}`;

/** Bob has confirmed codes by email, and his customer requires an app since. */
async function tightened(query = ''): Promise<Browser> {
  const cookies = await confirmEmail('bob', query);
  await setPolicy('mail', 'app');
  return cookies;
}

async function landing(username: string, cookies: Browser = {}): Promise<{ to: string | undefined; half: Browser }> {
  const form = { username, password: testPassword, redirectURL: asked };
  const answer = await portal.signIn(username, testPassword, { form, cookies });
  return { to: answer.headers.location, half: { ...cookies, ...cookiesOf(answer) } };
}

/** Signs in up to the registration of the app. */
async function proven(username = 'bob'): Promise<Browser> {
  const half = await halfSession(portal, username);
  const answer = await verify(portal, await codeByMail(portal, username), half);
  return { ...half, ...cookiesOf(answer) };
}

const secretOf = async (cookies: Browser) => {
  const answer = await portal.send({ url: registrationUrl, cookies });
  return [answer.statusCode, answer.body.includes('totpSecret')];
};
const refused = [409, false];
const shown = [200, true];

describe('MF-12 a user who has confirmed codes by email, and whose customer requires an app since', () => {
  it('MF-12 sees no key with the password alone, on no page and by no call', async () => {
    await tightened();
    const { to, half } = await landing('bob');
    expect(to).toBe(mailScreen);
    expect(await secretOf(half)).toEqual(refused);
    for (const url of [appScreen, `${appScreen}&codeSentViaEmail=true`, '/portal/twoFactorRegistration']) {
      const page = await pageOf(portal, { url, cookies: half });
      expect([page.status, page.location]).toEqual([302, expect.stringContaining('/portal/twoFactor?')]);
    }
    const page = await pageOf(portal, { url: mailScreen, cookies: half });
    expect([page.status, page.registration]).toEqual([200, undefined]);
    expect(page.secondFactor).toMatchObject({ account: 'bob', mayRemember: false, mayRecover: false });
    expect(await signedInAs(portal, half)).toBeNull();
    expect(await portal.sql`select from pending_totp`).toEqual([]);
  });

  it('MF-12 is asked for the code by email first, then sets up the app, and only then is in', async () => {
    await tightened();
    const { half } = await landing('bob');
    const code = await codeByMail(portal, 'bob');
    expect(verdict(await verify(portal, otherThan(code), half))).toBe(false);
    const answer = await verify(portal, code, half);
    expect(verdict(answer)).toBe(true);
    expect(answer.headers[codeAnswerHeaders.next]).toBe('registration');
    expect(Object.keys(cookiesOf(answer))).toEqual(['vestibule-session']);
    const next = { ...half, ...cookiesOf(answer) };
    expect([await signedInAs(portal, half), await signedInAs(portal, next)]).toEqual([null, null]);
    expect(await secretOf(half), 'the former token is worth nothing').toEqual([401, false]);
    expect((await pageOf(portal, { url: '/portal/portal.html', cookies: next })).location).toContain(
      '/portal/twoFactor?',
    );
    // Back leads on to the registration.
    for (const url of [mailScreen, '/portal/twoFactor'])
      expect((await pageOf(portal, { url, cookies: next })).location).toContain('/portal/twoFactorRegistration');
    expect((await pageOf(portal, { url: appScreen, cookies: next })).registration).toBeDefined();
    const { cookies } = await registerApp(portal, next);
    expect(await signedInAs(portal, cookies)).toBe('bob');
    const events = await portal.sql<{ event: string; steps: unknown[] }[]>`
      select event, steps from audit_event where event <> 'code-refused' order by at desc, id desc limit 3`;
    expect(events.map(({ event }) => event)).toEqual(['signed-in', 'second-factor-asked', 'second-factor-asked']);
    expect(events[1]?.steps).toEqual([{ step: 'second factor', outcome: 'email code' }]);
    expect(portal.mails.filter(({ recipient }) => recipient === 'bob@acme.test')).toHaveLength(2);
  });

  it('is led to the registration without script too, also if the button is pressed twice', async () => {
    await tightened();
    const { half } = await landing('bob');
    const code = await codeByMail(portal, 'bob');
    const form = { code, redirectURL: asked, codeSentViaEmail: 'true' };
    const [one, other] = await Promise.all([
      verifyByForm(portal, form, half, '?lang=de'),
      verifyByForm(portal, form, half, '?lang=de'),
    ]);
    portal.wait(1000);
    const late = await verifyByForm(portal, form, half, '?lang=de');
    for (const answer of [one, other, late]) {
      expect([answer.statusCode, answer.headers.location]).toEqual([303, `${appScreen}&lang=de`]);
      expect(cookiesOf(answer)).toEqual(cookiesOf(one));
    }
    expect(await secretOf({ ...half, ...cookiesOf(other) })).toEqual(shown);
    expect(await portal.sql`select from session where stage = 'half'`).toHaveLength(1);
    portal.wait(limits.sameCodePress);
    expect((await verifyByForm(portal, form, half)).headers.location).toContain('notice=signInExpired');
  });

  it('MF-12 is not spared by a browser remembered by a code by email, nor is one remembered now', async () => {
    const remembered = await tightened('?remember=true');
    const held = { 'vestibule-remembered': remembered['vestibule-remembered'] ?? '' };
    const { to, half } = await landing('bob', held);
    expect(to).toBe(mailScreen);
    const answer = await verify(portal, await codeByMail(portal, 'bob'), half, { query: '?remember=true' });
    expect(Object.keys(cookiesOf(answer))).toEqual(['vestibule-session']);
    expect(await portal.sql`select from remembered_device`).toHaveLength(1);
  });

  it('MF-06 has five attempts at the code by email; a right fifth one leaves five for the app', async () => {
    await tightened();
    const spent = await halfSession(portal, 'bob');
    const wrong = otherThan(await codeByMail(portal, 'bob'));
    for (let count = 0; count < limits.codeTries; count += 1) await verify(portal, wrong, spent);
    expect(await secretOf(spent)).toEqual([401, false]);
    expect(verdict(await verify(portal, wrong, spent))).toEqual([401, 'tooManyCodes']);

    portal.wait(60_000);
    const half = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    for (let count = 1; count < limits.codeTries; count += 1) await verify(portal, otherThan(code), half);
    const next = { ...half, ...cookiesOf(await verify(portal, code, half)) };
    expect(await secretOf(next)).toEqual(shown);
    await registerApp(portal, next);
  });

  it('has ten minutes for each of the two steps', async () => {
    await tightened();
    const half = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    portal.wait(limits.halfSession - 5000);
    const next = { ...half, ...cookiesOf(await verify(portal, code, half)) };
    portal.wait(limits.halfSession - 1000);
    expect(await secretOf(next)).toEqual(shown);
    portal.wait(1000);
    expect(await secretOf(next)).toEqual([401, false]);
  });

  it('“not you” at the code by email leaves no name on the form, cancelling the registration does', async () => {
    await tightened();
    const nameAfterLogout = async (cookies: Browser) => {
      const out = await portal.send({ method: 'POST', url: '/portal/logout', cookies });
      const left = Object.fromEntries(
        Object.entries({ ...cookies, ...cookiesOf(out) }).filter(([, value]) => value !== ''),
      );
      const { body } = await portal.send({ url: '/portal/login', cookies: left });
      return /<input[^>]*name="username"[^>]*value="([^"]*)"/.exec(body)?.[1] ?? '';
    };
    expect(await nameAfterLogout((await landing('bob')).half)).toBe('');
    portal.wait(60_000);
    expect(await nameAfterLogout(await proven())).toBe('bob');
  });

  it('MF-12 is asked for the app if it was set up elsewhere meanwhile', async () => {
    await tightened();
    const half = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    await giveApp(portal, 'bob');
    const next = { ...half, ...cookiesOf(await verify(portal, code, half)) };
    expect((await pageOf(portal, { url: appScreen, cookies: next })).location).toContain('/portal/twoFactor?');
    expect((await landing('bob')).to).toBe(`/portal/twoFactor?redirectURL=${encodeURIComponent(asked)}`);
  });

  it('EM-04 proves it in their own sign-in only: another one that waits is not spared', async () => {
    await tightened();
    const other = await halfSession(portal, 'bob', { from: '192.0.2.1' });
    portal.wait(1000);
    const next = await proven();
    expect(await secretOf(next)).toEqual(shown);
    const elsewhere = await portal.send({ url: registrationUrl, cookies: other, from: '192.0.2.1' });
    expect(elsewhere.statusCode).toBe(409);
    expect((await landing('bob')).to).toBe(mailScreen);
  });
});

describe('what changes during such a sign-in', () => {
  it('a code by email that was awaited before the change signs in as before', async () => {
    await confirmEmail('bob');
    const half = await halfSession(portal, 'bob');
    await setPolicy('mail', 'app');
    const answer = await verify(portal, await codeByMail(portal, 'bob'), half);
    expect(answer.headers[codeAnswerHeaders.next]).toBeUndefined();
    expect(await signedInAs(portal, cookiesOf(answer))).toBe('bob');
    expect((await landing('bob')).to).toBe(mailScreen);
  });

  it.each(['before', 'after'])('EM-10 another email %s the code ends it', async (when) => {
    await tightened();
    const half = when === 'before' ? await halfSession(portal, 'bob') : await proven();
    const changed = await changeUser(portal.sql, 'bob', { email: 'bob@new.test' }, portal.deps.now());
    expect(changed).toMatchObject({ kind: 'changed', sessionsEnded: 1 });
    expect(await secretOf(half)).toEqual([401, false]);
    await landing('bob');
    portal.wait(1000);
    await portal.workOff();
    expect(portal.mails.at(-1)?.recipient).toBe('bob@new.test');
  });

  it('a reset by the operator leads to the registration, for a mailbox that is lost', async () => {
    await tightened();
    const half = await halfSession(portal, 'bob');
    await resetTwoFactor(portal.sql, 'bob', portal.deps.now());
    expect(await secretOf(half)).toEqual([401, false]);
    const { to, half: next } = await landing('bob');
    expect(to).toBe(appScreen);
    await registerApp(portal, next);
  });
});

describe('MF-12 a user of a customer that requires an app', () => {
  it('MF-12 who also belongs to one that requires codes by email confirms the email first, wherever that one admits', async () => {
    for (const networks of [[], ['203.0.113.0/24']]) {
      const key = `strict-${networks.length}`;
      const username = `dora-${networks.length}`;
      await addCustomer(portal, key, { twoFactor: 'email', networks });
      await addUser(portal, { username, customers: ['app', key] });
      const { to, half } = await landing(username);
      expect(to).toBe(`${appScreen}&codeSentViaEmail=true`);
      expect(await secretOf(half)).toEqual(refused);
      const answer = await verify(portal, await codeByMail(portal, username), half);
      expect(answer.headers[codeAnswerHeaders.next]).toBe('registration');
      const next = { ...half, ...cookiesOf(answer) };
      expect(await signedInAs(portal, next)).toBeNull();
      expect((await portal.sql`select from email_factor`).length).toBe(networks.length + 1);
      await registerApp(portal, next);
      await portal.sql`update customer set active = false where key = ${key}`;
    }
  });

  it('MF-12 confirms it too while that one is disabled: the app would open it later', async () => {
    await addCustomer(portal, 'closed', { twoFactor: 'email' });
    await addUser(portal, { username: 'carl', customers: ['app', 'plain', 'closed'] });
    await portal.sql`update customer set active = false where key = 'closed'`;
    const { to, half } = await landing('carl');
    expect(to).toBe(`${appScreen}&codeSentViaEmail=true`);
    expect(await secretOf(half)).toEqual(refused);
    const answer = await verify(portal, await codeByMail(portal, 'carl'), half);
    await registerApp(portal, { ...half, ...cookiesOf(answer) });
  });

  it('sets up the app after the password if there is nothing to prove', async () => {
    await addUser(portal, { username: 'carl', customers: ['app', 'plain'] });
    for (const username of ['alice', 'carl']) {
      const { to, half } = await landing(username);
      expect(to).toBe(appScreen);
      await registerApp(portal, half);
    }
    expect(await portal.sql`select from email_code`).toEqual([]);
  });
});
