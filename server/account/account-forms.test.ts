import { beforeEach, describe, expect, it } from 'vitest';
import texts from '#messages/en.json' with { type: 'json' };
import {
  accountEvents,
  mailKinds,
  postAccount,
  sessionIdOf,
  signedIn,
  startAccountAfresh,
} from '#test/support/account-page-for-test.ts';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { newPassword } from '#test/support/reset-for-test.ts';
import { codeNow, giveApp, step } from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile();
beforeEach(() => startAccountAfresh(portal));

const minute = 60_000;

describe('the account page', () => {
  it('leads somebody who is not signed in to the sign-in form, and back', async () => {
    const { statusCode, headers } = await portal.send({ url: '/portal/account/password?do=change' });
    const there = '/portal/?destination=%2Fportal%2Faccount%2Fpassword%3Fdo%3Dchange';
    expect([statusCode, headers.location]).toEqual([302, there]);
  });

  it('shows who is signed in, and the customers whose networks admit them here', async () => {
    await addCustomer(portal, 'fenced', { networks: ['203.0.113.0/24'] });
    await addUser(portal, {
      username: 'carol',
      name: 'Carol Čapek',
      groups: ['acme:ops'],
      customers: ['acme', 'fenced'],
    });
    const cookies = await signedIn(portal, 'carol', { from: '203.0.113.5' });
    const shown = async (from: string) => await portal.send({ url: '/portal/account', cookies, from });
    const { body, headers } = await shown('203.0.113.5');
    for (const text of ['>CČ<', 'Carol Čapek', 'carol@acme.test', 'fenced', 'acme:ops']) expect(body).toContain(text);
    expect(headers['content-security-policy']).toMatch(/script-src 'self'[;,]/);
    expect((await shown('198.51.100.7')).body).not.toContain('fenced');
  });

  it('says that something was done at our own page’s request alone', async () => {
    const cookies = await signedIn(portal, 'alice');
    const url = '/portal/account/password?notice=passwordChanged';
    const noticeBy = async (site: string) =>
      (await portal.send({ url, cookies, headers: { 'sec-fetch-site': site } })).body.includes(
        texts['account-notice-passwordChanged'],
      );
    const sites = ['cross-site', 'same-site', 'none', 'same-origin'].map(noticeBy);
    expect(await Promise.all(sites)).toEqual([false, false, false, true]);
  });
});

describe('who may post a form of the account page', () => {
  it('another site may not, with the cookie or without the session’s id (CSRF)', async () => {
    const cookies = await signedIn(portal, 'alice');
    const session = await sessionIdOf(portal, cookies);
    const foreign = { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } };
    const form = { do: 'endOthers', session };
    expect((await postAccount(portal, 'sessions', form, cookies, foreign)).statusCode).toBe(403);
    // A browser that says nothing about the sender still has no id to send.
    const silent = { headers: { origin: portal.deps.config.destinationRules.origin } };
    await signedIn(portal, 'alice');
    const answer = await postAccount(portal, 'sessions', { do: 'endOthers', session: '' }, cookies, silent);
    expect(answer.headers.location).toBe('/portal/account/sessions?notice=otherSession');
    expect(await portal.sql`select from session`).toHaveLength(2);
    expect(await accountEvents(portal)).toEqual(['request-refused']);
  });

  it('a session that ended while the page was open: sign in, and come back to what was begun, without secrets', async () => {
    const cookies = await signedIn(portal, 'alice');
    const session = await sessionIdOf(portal, cookies);
    portal.wait(portal.deps.config.sessionIdle + minute);
    const form = { do: 'change', session, current: testPassword, password: newPassword, repeat: newPassword };
    const { statusCode, headers } = await postAccount(portal, 'password', form, cookies);
    expect([statusCode, headers.location]).toEqual([
      303,
      '/portal/?destination=%2Fportal%2Faccount%2Fpassword%3Fdo%3Dchange',
    ]);
  });

  it('an unknown action is refused with its field, and so is another method', async () => {
    const cookies = await signedIn(portal, 'alice');
    for (const name of ['', 'toString', 'constructor', 'prove'])
      expect((await postAccount(portal, 'sessions', { do: name, for: 'end' }, cookies)).statusCode).toBe(400);
    const put = await portal.send({ method: 'PUT', url: '/portal/account/sessions', form: {}, cookies });
    expect([put.statusCode, put.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
    expect((await portal.send({ url: '/portal/account/nothing', cookies })).statusCode).toBe(404);
  });
});

describe('a fresh proof', () => {
  it('is asked for in place once the sign-in is ten minutes old, and what was begun comes back', async () => {
    let cookies = await signedIn(portal, 'alice');
    portal.wait(11 * minute);
    const refused = await postAccount(portal, 'app', { do: 'setUp' }, cookies);
    expect(refused.headers.location).toBe('/portal/account/app?do=setUp');
    const page = await portal.send({ url: '/portal/account/app?do=setUp', cookies });
    expect(page.body.includes('name="password"')).toBe(true);
    const form = { do: 'prove', for: 'setUp' };
    const wrong = await postAccount(portal, 'app', { ...form, password: 'guess' }, cookies);
    expect(wrong.headers.location).toBe('/portal/account/app?do=setUp&notice=passwordWrong');
    const right = await postAccount(portal, 'app', { ...form, password: testPassword }, cookies);
    expect(right.headers.location).toBe('/portal/account/app?do=setUp&notice=proven');
    cookies = { ...cookies, ...cookiesOf(right) };
    const done = await postAccount(portal, 'app', { do: 'setUp' }, cookies);
    expect(done.headers.location).toBe('/portal/twoFactorRegistration?redirectURL=%2Fportal%2Faccount%2Fapp');
    const registration = await portal.send({ url: '/portal/two-factor-authentication/registration', cookies });
    expect(registration.statusCode).toBe(200);
    expect(await accountEvents(portal)).toEqual([
      'account-change-refused no-fresh-proof',
      'fresh-proof-refused wrong-password',
      'fresh-proof-given',
    ]);
  });

  it('lasts ten minutes, in its own session only', async () => {
    const before = await signedIn(portal, 'alice');
    const elsewhere = await signedIn(portal, 'alice');
    portal.wait(11 * minute);
    const form = { do: 'prove', for: 'setUp', password: testPassword };
    const cookies = { ...before, ...cookiesOf(await postAccount(portal, 'app', form, before)) };
    const toSetUp = async (browser: typeof cookies) =>
      (await postAccount(portal, 'app', { do: 'setUp' }, browser)).headers.location?.includes('Registration');
    expect([await toSetUp(cookies), await toSetUp(elsewhere)]).toEqual([true, false]);
    portal.wait(11 * minute);
    expect(await toSetUp(cookies)).toBe(false);
  });

  it('is a code where there is an app: the password alone is not asked for', async () => {
    const cookies = await signedIn(portal, 'alice');
    const secret = await giveApp(portal, 'alice');
    const page = await portal.send({ url: '/portal/account/app?do=remove', cookies });
    expect([page.body.includes('name="password"'), page.body.includes('name="code"')]).toEqual([false, true]);
    const prove = { do: 'prove', for: 'remove' };
    const byPassword = await postAccount(portal, 'app', { ...prove, password: testPassword }, cookies);
    expect(byPassword.headers.location).toContain('notice=entryMissing');
    const code = codeNow(portal, secret);
    const right = await postAccount(portal, 'app', { ...prove, code }, cookies);
    expect(right.headers.location).toBe('/portal/account/app?do=remove&notice=proven');
  });

  it('takes a code once, in two sessions at the same moment', async () => {
    const browsers = [await signedIn(portal, 'alice'), await signedIn(portal, 'alice')];
    const code = codeNow(portal, await giveApp(portal, 'alice'));
    const sessions = await Promise.all(browsers.map((cookies) => sessionIdOf(portal, cookies)));
    const form = { do: 'prove', for: 'remove', code };
    const answers = await Promise.all(
      browsers.map((cookies, at) => postAccount(portal, 'app', { ...form, session: sessions[at] ?? '' }, cookies)),
    );
    const notices = answers.map(({ headers }) => headers.location?.split('notice=')[1]);
    expect(notices.sort()).toEqual(['codeWrong', 'proven']);
  });

  it('counts wrong codes with those of the sign-in', async () => {
    const cookies = await signedIn(portal, 'alice');
    const secret = await giveApp(portal, 'alice');
    const right = codeNow(portal, secret);
    const session = await sessionIdOf(portal, cookies);
    const tryCode = (code: string) =>
      postAccount(portal, 'app', { do: 'prove', for: 'remove', code, session }, cookies);
    const wrong = String((Number(right) + 1) % 1_000_000).padStart(6, '0');
    for (let count = 0; count < 10; count += 1) await tryCode(wrong);
    expect((await tryCode(right)).statusCode).toBe(429);
    const [{ failures } = { failures: 0 }] = await portal.sql<{ failures: number }[]>`
      select failures from throttle where key like 'code:%'`;
    expect(failures).toBe(10);
    expect((await accountEvents(portal)).at(-1)).toBe('fresh-proof-refused throttled-code');
    portal.wait(step);
  });
});

describe('a form that is pressed twice, without script,', () => {
  const sessionOf = (answer: { headers: Record<string, unknown> }) => cookiesOf(answer as never)['vestibule-session'];

  it.each(['a proof by password', 'a proof by code', 'a new password'])(
    '%s, leads where the first press led, with the same cookie, for ten seconds',
    async (what) => {
      const cookies = await signedIn(portal, 'alice');
      const session = await sessionIdOf(portal, cookies);
      portal.wait(11 * minute);
      const code = what === 'a proof by code' ? { code: codeNow(portal, await giveApp(portal, 'alice')) } : null;
      const proof = { do: 'prove', for: 'setUp', session, ...(code ?? { password: testPassword }) };
      const change = { do: 'change', current: testPassword, password: newPassword, repeat: newPassword, session };
      const press = (form: Record<string, string>) =>
        postAccount(portal, what === 'a new password' ? 'password' : 'app', form, cookies);
      const form = what === 'a new password' ? change : proof;
      const [one, other] = await Promise.all([press(form), press(form)]);
      const third = await press(form);
      expect(sessionOf(one)).toBeDefined();
      expect([sessionOf(other), sessionOf(third)]).toEqual([sessionOf(one), sessionOf(one)]);
      expect([other.headers.location, third.headers.location]).toEqual([one.headers.location, one.headers.location]);
      expect(await signedInAs(portal, { 'vestibule-session': sessionOf(one) ?? '' })).toBe('alice');
      // The cookie from before alone finds nothing.
      const guess = await press({ ...form, current: 'x', code: '000000', password: 'x' });
      expect([sessionOf(guess), guess.headers.location?.startsWith('/portal/?destination')]).toEqual([undefined, true]);
      portal.wait(10_001);
      expect((await press(form)).headers.location).toContain('/portal/?destination');
    },
  );
});

const change = { do: 'change', current: testPassword, password: newPassword, repeat: newPassword };
const noticeOf = (location: string | undefined) => new URL(location ?? '', 'http://x').searchParams.get('notice');

it('a new password ends every other session; this one goes on under another token, and the person is told', async () => {
  const [here, there] = [await signedIn(portal, 'alice'), await signedIn(portal, 'alice')];
  const answer = await postAccount(portal, 'password', change, here);
  expect([answer.statusCode, answer.headers.location]).toEqual([
    303,
    '/portal/account/password?notice=passwordChanged',
  ]);
  const after = { ...here, ...cookiesOf(answer) };
  expect(after['vestibule-session']).not.toBe(here['vestibule-session']);
  expect(await signedInAs(portal, after)).toBe('alice');
  expect(await signedInAs(portal, here)).toBeNull();
  expect(await signedInAs(portal, there)).toBeNull();
  expect((await portal.signIn('alice', testPassword)).headers.location).toContain('loginfail');
  expect((await portal.signIn('alice', newPassword)).headers.location).toBe('/portal/portal.html');
  expect(await mailKinds(portal)).toEqual(['passwordChanged']);
  expect(await accountEvents(portal)).toEqual(['password-changed']);
});

it.each([
  [
    'PW-10 a wrong current password',
    { current: 'not-the-password' },
    'passwordWrong',
    'password-change-refused wrong-password',
  ],
  ['two entries that differ', { repeat: `${newPassword}x` }, 'passwordRefused', 'password-change-refused 5'],
  ['a weak one', { password: 'gggggggg', repeat: 'gggggggg' }, 'passwordRefused', 'password-change-refused 1'],
  [
    'the current one',
    { password: testPassword, repeat: testPassword },
    'passwordRefused',
    'password-change-refused 11',
  ],
])('%s changes nothing', async (_, wrong, notice, event) => {
  const cookies = await signedIn(portal, 'alice');
  const answer = await postAccount(portal, 'password', { ...change, ...wrong }, cookies);
  expect([answer.statusCode, noticeOf(answer.headers.location)]).toEqual([303, notice]);
  expect(answer.headers.location).not.toContain(newPassword);
  expect(await accountEvents(portal)).toEqual([event]);
  expect(await mailKinds(portal)).toEqual([]);
  expect(await signedInAs(portal, cookies)).toBe('alice');
  expect((await portal.signIn('alice', testPassword)).headers.location).toBe('/portal/portal.html');
});

it('PW-10 a copy of the session cookie has no more guesses than the sign-in form: the account waits', async () => {
  const { 'vestibule-session': token = '' } = await signedIn(portal, 'alice');
  const stolen = { 'vestibule-session': token };
  const session = await sessionIdOf(portal, stolen);
  const guess = (number: number, from = '203.0.113.9') =>
    postAccount(portal, 'password', { ...change, session, current: `guess-number-${number}` }, stolen, { from });
  for (let number = 0; number < 5; number += 1) await guess(number);
  const answer = await guess(5);
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '30']);
  // The right one is not even checked now, there or at the sign-in form of an unknown browser.
  expect((await postAccount(portal, 'password', { ...change, session }, stolen)).statusCode).toBe(429);
  expect((await portal.signIn('alice', testPassword)).headers.location).toContain('loginfail');
  expect((await accountEvents(portal)).at(-1)).toBe('password-change-refused throttled-account');
});

it('who knows the current password compares only so many with the former ones', async () => {
  const cookies = await signedIn(portal, 'alice');
  const same = { ...change, password: testPassword, repeat: testPassword, session: await sessionIdOf(portal, cookies) };
  const compare = async () => (await postAccount(portal, 'password', same, cookies)).statusCode;
  for (let press = 0; press < 10; press += 1) expect(await compare()).toBe(303);
  expect(await compare()).toBe(429);
});

it('/.well-known/change-password leads to the account page, or without a session to the forgotten password form', async () => {
  const cookies = await signedIn(portal, 'alice');
  const url = '/.well-known/change-password';
  expect((await portal.send({ url })).headers.location).toBe('/portal/forgotten');
  expect((await portal.send({ url, cookies })).headers.location).toBe('/portal/account/password');
});
