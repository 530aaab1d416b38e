import { beforeEach, describe, expect, it } from 'vitest';
import { changeUser } from '#server/accounts/change-user.ts';
import { unseal } from '#server/secrets/sealed.ts';
import { totpPlace } from '#server/two-factor/registration.ts';
import {
  accountEvents,
  mailKinds,
  markOf,
  postAccount,
  signedIn,
  startAccountAfresh,
} from '#testing/account-page-for-test.ts';
import { enrolmentOf, newPasskey } from '#testing/passkey-for-test.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import { type BrowserForTest, browserForTest } from '#testing/sso-for-test.ts';
import {
  type Browser,
  codeNow,
  giveApp,
  recoveryCodesShown,
  registrationUrl,
  signInWithApp,
  step,
  verdict,
  verify,
  verifyUrl,
} from '#testing/two-factor-for-test.ts';

// Docs/decisions/0051: a copy of a session cookie that waits for the owner's proof gets nothing of it.

const portal = portalOfFile();
beforeEach(() => startAccountAfresh(portal));

const minute = 60_000;

/** A copy of a browser's session cookie, elsewhere. */
const copyOf = (cookies: Browser): Browser => ({ 'vestibule-session': cookies['vestibule-session'] ?? '' });

async function withApp(): Promise<{ cookies: Browser; secret: string }> {
  const secret = await giveApp(portal, 'alice');
  const cookies = await signInWithApp(portal, 'alice', secret);
  portal.wait(step);
  return { cookies, secret };
}

describe('of two copies of a session cookie', () => {
  it('the one that proves by a code goes on under another token, and the other is signed out', async () => {
    const { cookies, secret } = await withApp();
    const thief = copyOf(cookies);
    portal.wait(11 * minute);
    const form = { do: 'prove', for: 'make', code: codeNow(portal, secret) };
    const owner = { ...cookies, ...cookiesOf(await postAccount(portal, 'recovery-codes', form, cookies)) };
    expect([await signedInAs(portal, owner), await signedInAs(portal, thief)]).toEqual(['alice', null]);
    const made = { ...owner, ...cookiesOf(await postAccount(portal, 'recovery-codes', { do: 'make' }, owner)) };
    expect((await recoveryCodesShown(portal, made)).codes).toHaveLength(10);
    await expect(recoveryCodesShown(portal, thief)).rejects.toThrow('302');
  });

  it('the one that proves by the password does, too', async () => {
    const cookies = await signedIn(portal, 'alice');
    const thief = copyOf(cookies);
    portal.wait(11 * minute);
    const form = { do: 'prove', for: 'setUp', password: testPassword };
    const owner = { ...cookies, ...cookiesOf(await postAccount(portal, 'app', form, cookies)) };
    expect([await signedInAs(portal, owner), await signedInAs(portal, thief)]).toEqual(['alice', null]);
  });

  it('neither keeps the key of the next app that was shown before the proof', async () => {
    const { cookies, secret } = await withApp();
    const begun = { ...cookies, ...cookiesOf(await postAccount(portal, 'app', { do: 'replace' }, cookies)) };
    await portal.send({ url: '/portal/account/app?do=replace', cookies: begun });
    expect(await portal.sql`select from pending_totp`).toHaveLength(1);
    portal.wait(11 * minute);
    await postAccount(portal, 'app', { do: 'prove', for: 'replace', code: codeNow(portal, secret) }, begun);
    expect(await portal.sql`select from pending_totp`).toHaveLength(0);
  });

  it('the owner still sees the recovery codes that they had made before', async () => {
    const { cookies, secret } = await withApp();
    portal.wait(9 * minute);
    const made = { ...cookies, ...cookiesOf(await postAccount(portal, 'recovery-codes', { do: 'make' }, cookies)) };
    const { codes } = await recoveryCodesShown(portal, made);
    portal.wait(2 * minute);
    const form = { do: 'prove', for: 'remove', code: codeNow(portal, secret) };
    const owner = { ...made, ...cookiesOf(await postAccount(portal, 'app', form, made)) };
    expect((await recoveryCodesShown(portal, owner)).codes).toEqual(codes);
  });
});

describe('right after the sign-in, which is proof enough,', () => {
  it('whoever removes the app signs the other out, and sees it removed at the second press', async () => {
    const { cookies } = await withApp();
    const thief = copyOf(cookies);
    const form = { do: 'remove', form: await markOf(portal, cookies) };
    const removed = await postAccount(portal, 'app', form, cookies);
    const owner = { ...cookies, ...cookiesOf(removed) };
    expect([await signedInAs(portal, owner), await signedInAs(portal, thief)]).toEqual(['alice', null]);
    const again = await postAccount(portal, 'app', form, cookies);
    expect([again.headers.location, cookiesOf(again)]).toEqual([removed.headers.location, cookiesOf(removed)]);
  });

  it.each([
    ['app', 'replace'],
    ['app', 'remove'],
    ['recovery-codes', 'make'],
  ])('it is none in a copy of the session cookie alone: %s, %s', async (section, action) => {
    const { cookies } = await withApp();
    const thief = copyOf(cookies);
    const pressed = await postAccount(portal, section, { do: action }, thief);
    expect([pressed.headers.location, cookiesOf(pressed)]).toEqual([`/portal/account/${section}?do=${action}`, {}]);
    const page = await portal.send({ url: `/portal/account/${section}?do=${action}`, cookies: thief });
    expect(page.body).toContain('name="for"');
    expect([await signedInAs(portal, cookies), await signedInAs(portal, thief)]).toEqual(['alice', 'alice']);
  });

  it.each([
    ['app', 'replace'],
    ['app', 'remove'],
    ['recovery-codes', 'make'],
  ])('nor beside the cookie of another browser where its owner was before: %s, %s', async (section, action) => {
    const secret = await giveApp(portal, 'alice');
    const kiosk = await signInWithApp(portal, 'alice', secret);
    portal.wait(step);
    await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies: kiosk });
    // Whoever comes next there has a cookie of their own, which stands for all who were.
    const next = await signedIn(portal, 'bob', { cookies: { 'vestibule-device': kiosk['vestibule-device'] ?? '' } });
    const owner = await signInWithApp(portal, 'alice', secret);
    portal.wait(step);
    const thief = { ...next, ...copyOf(owner) };
    const pressed = await postAccount(portal, section, { do: action }, thief);
    expect([pressed.headers.location, cookiesOf(pressed)]).toEqual([`/portal/account/${section}?do=${action}`, {}]);
    await postAccount(portal, 'sessions', { do: 'endOthers' }, thief);
    expect([await signedInAs(portal, owner), await signedInAs(portal, thief)]).toEqual([null, null]);
  });

  it.each([
    ['as ever', async () => undefined],
    [
      'with a new password since',
      async () => await changeUser(portal.sql, 'bob', { passwordHash: 'another' }, portal.deps.now()),
    ],
    ['whose account is gone', async () => void (await portal.sql`delete from portal_user where username = 'bob'`)],
  ])(
    'on a shared computer, who was there before, %s, has no browser of the next one’s by the cookie of their own turn',
    async (_what, change) => {
      const { cookies, secret } = await withApp();
      const leave = async (from: Browser) =>
        cookiesOf(await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies: from }));
      const bob = await signedIn(portal, 'bob', { cookies: { ...cookies, ...(await leave(cookies)) } });
      portal.wait(60 * minute);
      await change();
      const alone = { 'vestibule-device': bob['vestibule-device'] ?? '' };
      const next = await signInWithApp(portal, 'alice', secret, { cookies: { ...alone, ...(await leave(bob)) } });
      portal.wait(step);
      const begin = (by: Browser) => postAccount(portal, 'app', { do: 'replace' }, by);
      const [thief, owner] = [await begin({ ...copyOf(next), ...alone }), await begin(next)];
      // The thief is asked for a proof; the owner gets the key.
      expect([cookiesOf(thief), Object.keys(cookiesOf(owner))]).toEqual([
        {},
        expect.arrayContaining(['vestibule-session']),
      ]);
      // That is the owner's alone now, and stays.
      const again = await signInWithApp(portal, 'alice', secret, { cookies: { ...next, ...(await leave(next)) } });
      expect(again['vestibule-device']).toBe(next['vestibule-device']);
    },
  );

  it('a copy that knows the password, and changes it, is signed out and becomes no browser of its owner', async () => {
    const { cookies } = await withApp();
    const password = 'Harbour-Lantern-77';
    const change = { do: 'change', current: testPassword, password, repeat: password };
    const thief = copyOf(cookies);
    const changed = await postAccount(portal, 'password', change, thief);
    expect([changed.headers.location, cookiesOf(changed)]).toEqual(['/portal/forgottenChangedInfo', {}]);
    expect([await signedInAs(portal, cookies), await signedInAs(portal, thief)]).toEqual([null, null]);
    expect(await portal.sql`select from session`).toHaveLength(0);
    expect(await portal.sql`select from device`).toHaveLength(0);
    expect((await mailKinds(portal)).at(-1)).toBe('passwordChanged');
  });

  it('whoever adds a passkey, or removes one, does', async () => {
    const cookies = await signedIn(portal, 'bob');
    const browser = browserForTest(portal);
    Object.assign(browser.cookies, cookies);
    const first = copyOf(browser.cookies);
    const begun = await browser.open('/portal/passkeys/enrol/options', {
      method: 'POST',
      headers: { accept: 'application/json' },
    });
    const options = begun.json<{ challenge: string; user: { id: string } }>();
    const passkey = newPasskey({ userHandle: Buffer.from(options.user.id, 'base64url') });
    const mark = async () => await markOf(portal, browser.cookies);
    const credential = enrolmentOf(passkey, options);
    await browser.post('/portal/account/passkeys', { form: await mark(), do: 'enrol', for: 'enrol', credential });
    expect([await signedInAs(portal, browser.cookies), await signedInAs(portal, first)]).toEqual(['bob', null]);
    const second = copyOf(browser.cookies);
    const [row] = await portal.sql<{ id: string }[]>`select id from passkey`;
    await browser.post('/portal/account/passkeys', { form: await mark(), do: 'remove', id: row?.id ?? '' });
    expect(await portal.sql`select from passkey`).toEqual([]);
    expect([await signedInAs(portal, browser.cookies), await signedInAs(portal, second)]).toEqual(['bob', null]);
  });

  it.each([
    ['at once', 0, 2],
    ['after a minute', minute, 1],
  ])(
    'a former token finds the session that was signed out %s as often as it still leads to it',
    async (_, time, found) => {
      const cookies = await signedIn(portal, 'bob');
      const answer = await postAccount(portal, 'sessions', { do: 'endOthers' }, cookies);
      const owner = { ...cookies, ...cookiesOf(answer) };
      portal.wait(time);
      await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies: owner });
      // What a lost answer to the sign-out is found by, with the proof for the provider.
      expect(await portal.sql`select from signed_out_session`).toHaveLength(found);
    },
  );

  it('"Sign out everywhere else" is there when no other session is: a copy is in no list', async () => {
    const cookies = await signedIn(portal, 'bob');
    const thief = copyOf(cookies);
    const { body } = await portal.send({ url: '/portal/account/sessions', cookies });
    const [, form = ''] = /name="form" value="([^"]+)"/.exec(body) ?? [];
    expect(body).toContain('value="endOthers"');
    const owner = {
      ...cookies,
      ...cookiesOf(await postAccount(portal, 'sessions', { do: 'endOthers', form }, cookies)),
    };
    expect([await signedInAs(portal, owner), await signedInAs(portal, thief)]).toEqual(['bob', null]);
  });
});

describe('new recovery codes, made right after the sign-in, which is proof enough', () => {
  it('are not shown to a copy of the session cookie', async () => {
    const { cookies } = await withApp();
    const thief = copyOf(cookies);
    const answer = await postAccount(portal, 'recovery-codes', { do: 'make' }, cookies);
    const owner = { ...cookies, ...cookiesOf(answer) };
    expect((await recoveryCodesShown(portal, owner)).codes).toHaveLength(10);
    await expect(recoveryCodesShown(portal, thief)).rejects.toThrow('302');
  });

  it('are made once by two presses of the button, which get one session', async () => {
    const { cookies } = await withApp();
    const form = { do: 'make', form: await markOf(portal, cookies) };
    const answers = await Promise.all([1, 2].map(() => postAccount(portal, 'recovery-codes', form, cookies)));
    const tokens = answers.map((answer) => cookiesOf(answer)['vestibule-session']);
    expect(tokens[0]).toBeDefined();
    expect(tokens[1]).toBe(tokens[0]);
    expect(answers[1]?.headers.location).toBe(answers[0]?.headers.location);
    expect((await recoveryCodesShown(portal, { 'vestibule-session': tokens[0] ?? '' })).left).toBe(10);
    expect(await portal.sql`select from mail where kind = 'recoveryCodesMade'`).toHaveLength(1);
  });
});

describe('the key of the next app, right after the sign-in, which is proof enough', () => {
  const url = '/portal/account/app?do=replace';
  const showsKey = async (cookies: Browser) => (await portal.send({ url, cookies })).body.includes('class="secret"');

  it('is not shown to a copy of the session cookie, whichever of the two asks first', async () => {
    const { cookies } = await withApp();
    const thief = copyOf(cookies);
    expect([await showsKey(thief), await showsKey(cookies)]).toEqual([false, false]);
    expect(await portal.sql`select from pending_totp`).toHaveLength(0);
    const { body } = await portal.send({ url, cookies });
    expect([body.includes('name="do" value="replace"'), body.includes('name="code"')]).toEqual([true, false]);
    const form = { do: 'replace', form: await markOf(portal, cookies) };
    const answers = [await postAccount(portal, 'app', form, cookies), await postAccount(portal, 'app', form, cookies)];
    const [owner, again] = answers.map((answer) => ({ ...cookies, ...cookiesOf(answer) }));
    expect(answers.map(({ headers }) => headers.location)).toEqual([url, url]);
    expect(again).toEqual(owner);
    expect([await showsKey(owner ?? {}), await signedInAs(portal, thief)]).toEqual([true, null]);
    // The sign-in is no later than it was.
    portal.wait(10 * minute);
    expect(await showsKey(owner ?? {})).toBe(false);
  });
});

describe.each([
  ['a session', 'off'],
  ['a sign-in that has to set up an app', 'app'],
])('the key of the first app, in %s,', (_, twoFactor) => {
  /** A known browser, whose owner is about to set it up. */
  async function owner(): Promise<BrowserForTest> {
    const browser = browserForTest(portal);
    const signIn = () => browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
    await signIn();
    await portal.sql`update customer set two_factor = ${twoFactor}`;
    await signIn();
    return browser;
  }

  function withCookies(cookies: Browser): BrowserForTest {
    return Object.assign(browserForTest(portal), { cookies: { ...cookies } });
  }

  async function keyFor(browser: BrowserForTest, more = {}): Promise<string> {
    return (await browser.open(registrationUrl, more)).json<{ totpSecret: string }>().totpSecret;
  }

  it('is shown to no copy of its cookie, whichever of the two asks first, and is the one that is set up', async () => {
    const browser = await owner();
    const [before, after] = [withCookies(copyOf(browser.cookies)), withCookies(copyOf(browser.cookies))];
    const seen = [await keyFor(before)];
    const key = await keyFor(browser);
    seen.push(await keyFor(after), await keyFor(before));
    expect(seen).not.toContain(key);
    expect(seen[2]).toBe(seen[0]);
    expect(verdict(await verify(portal, codeNow(portal, key), before.cookies))).toBe(false);
    expect(verdict(await verify(portal, codeNow(portal, key), browser.cookies))).toBe(true);
    const [app] = await portal.sql<{ id: string; secret: Buffer }[]>`
      select user_id as id, sealed_secret as secret from totp`;
    expect(app && unseal(portal.deps.keys.seal, app.secret, totpPlace(app.id))).toBe(key);
  });

  it.each<[string, number, object]>([
    ['from another address', 0, { from: '192.0.2.77' }],
    ['from another browser', 0, { headers: { 'user-agent': 'curl/8' } }],
    ['ten seconds later', 10_001, {}],
  ])('is shown to no copy of all its cookies %s', async (_where, later, more) => {
    const browser = await owner();
    const thief = withCookies(browser.cookies);
    const key = await keyFor(browser);
    portal.wait(later);
    expect(await keyFor(thief, more)).not.toBe(key);
    expect(await keyFor(browser)).toBe(key);
  });

  it('is the same in its browser: in tabs that load at once, after a lost answer, and on the page without script', async () => {
    const browser = await owner();
    const tabs = await Promise.all([1, 2, 3].map(() => keyFor(withCookies(browser.cookies))));
    const key = await keyFor(browser);
    expect(new Set([...tabs, key]).size).toBe(1);
    portal.wait(minute);
    expect(await keyFor(browser)).toBe(key);
    expect((await browser.get('/portal/twoFactorRegistration')).body).toContain(key.slice(0, 4));
    const answer = await browser.post(verifyUrl, { code: codeNow(portal, key) });
    expect(answer.headers.location).toContain('recovery-codes');
  });
});

describe('“Sign out everywhere else”', () => {
  const endOthers = { do: 'endOthers' };

  it('signs out a copy of this browser’s session cookie, too, though no other session is listed', async () => {
    const cookies = await signedIn(portal, 'alice');
    const thief = copyOf(cookies);
    const answer = await postAccount(portal, 'sessions', endOthers, cookies);
    expect(answer.headers.location).toBe('/portal/account/sessions?notice=sessionsEnded');
    const owner = { ...cookies, ...cookiesOf(answer) };
    expect([await signedInAs(portal, owner), await signedInAs(portal, thief)]).toEqual(['alice', null]);
  });

  it('pressed by a copy ends that as well, and tells the owner; pressed by the owner it tells nobody', async () => {
    const cookies = await signedIn(portal, 'alice');
    const owner = { ...cookies, ...cookiesOf(await postAccount(portal, 'sessions', endOthers, cookies)) };
    expect([await accountEvents(portal), await mailKinds(portal)]).toEqual([[], []]);
    const thief = copyOf(owner);
    const answer = await postAccount(portal, 'sessions', endOthers, thief);
    expect(answer.headers.location).toMatch(/^\/portal\/\?destination=%2Fportal%2Faccount%2Fsessions/);
    Object.assign(thief, cookiesOf(answer));
    expect([await signedInAs(portal, owner), await signedInAs(portal, thief)]).toEqual([null, null]);
    expect(await portal.sql`select from session`).toHaveLength(0);
    expect([await accountEvents(portal), await mailKinds(portal)]).toEqual([['own-sessions-ended'], ['sessionsEnded']]);
  });

  it('pressed twice gets one session, and is no guess; the form of another page gets none', async () => {
    const cookies = await signedIn(portal, 'alice');
    const form = { ...endOthers, form: await markOf(portal, cookies) };
    const ofThief = { ...endOthers, form: await markOf(portal, cookies) };
    const tokens = [];
    for (let press = 0; press < 2; press += 1)
      tokens.push(cookiesOf(await postAccount(portal, 'sessions', form, cookies))['vestibule-session']);
    expect(tokens[0]).toBeDefined();
    expect(tokens[1]).toBe(tokens[0]);
    // The whole cookie jar, behind the same address: what the owner's page had is not known.
    const copied = await postAccount(portal, 'sessions', ofThief, cookies);
    expect(cookiesOf(copied)['vestibule-session']).toBeUndefined();
    expect(await portal.sql`select from throttle where key like 'code:%' or key like 'account:%'`).toHaveLength(0);
  });
});

it.each(['password', 'code'] as const)('two presses of the button that proves by a %s get one session', async (by) => {
  const { cookies, secret } =
    by === 'code' ? await withApp() : { cookies: await signedIn(portal, 'alice'), secret: null };
  portal.wait(11 * minute);
  const entry = secret === null ? { password: testPassword } : { code: codeNow(portal, secret) };
  const form = {
    do: 'prove',
    for: by === 'code' ? 'remove' : 'setUp',
    ...entry,
    form: await markOf(portal, cookies),
  };
  const answers = await Promise.all([1, 2].map(() => postAccount(portal, 'app', form, cookies)));
  answers.push(await postAccount(portal, 'app', form, cookies));
  const tokens = answers.map((answer) => cookiesOf(answer)['vestibule-session']);
  expect(tokens[0]).toBeDefined();
  expect(new Set(tokens).size).toBe(1);
  for (const { headers } of answers) expect(headers.location).toBe(`/portal/account/app?do=${form.for}&notice=proven`);
  expect(await signedInAs(portal, { 'vestibule-session': tokens[0] ?? '' })).toBe('alice');
});

describe('the former token of a session that goes on under another', () => {
  const renewals: [string, (cookies: Browser) => Promise<Browser>][] = [
    [
      '“Sign out everywhere else”',
      async (cookies) => cookiesOf(await postAccount(portal, 'sessions', { do: 'endOthers' }, cookies)),
    ],
    [
      'a proof',
      async (cookies) => {
        portal.wait(11 * minute);
        const form = { do: 'prove', for: 'setUp', password: testPassword };
        return cookiesOf(await postAccount(portal, 'app', form, cookies));
      },
    ],
  ];
  const ends: [string, (thief: Browser) => Promise<unknown>][] = [
    ['signs out', (cookies) => portal.send({ method: 'POST', url: '/portal/logout', cookies })],
    ['signs in as somebody else', (cookies) => portal.signIn('bob', testPassword, { cookies })],
  ];
  const cases = renewals.flatMap(([renewal, renew]) => ends.map(([end, go]) => ({ renewal, end, renew, go })));

  it.each(cases)('after $renewal, a copy of it that $end ends nothing a minute later', async ({ renew, go }) => {
    const cookies = await signedIn(portal, 'alice');
    const owner = { ...cookies, ...(await renew(cookies)) };
    portal.wait(minute);
    await go(copyOf(cookies));
    expect(await signedInAs(portal, owner)).toBe('alice');
  });

  it.each(cases)('after $renewal, a browser that has not read the answer $end, and ends it', async ({ renew, go }) => {
    const cookies = await signedIn(portal, 'alice');
    const owner = { ...cookies, ...(await renew(cookies)) };
    portal.wait(minute - 1);
    await go(cookies);
    expect(await signedInAs(portal, owner)).toBe(null);
  });
});
