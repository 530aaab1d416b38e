import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { emptyTables } from '#test/support/rows-for-test.ts';
import { runsAll } from '#test/support/runs-all.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  lastFailure,
  pathOf,
} from '#test/support/sso-for-test.ts';
import { codeByMail, verifyUrl } from '#test/support/two-factor-for-test.ts';
import { tokenHash } from '../crypto/token.ts';

const portal = portalOfFile();
const second = otherInstanceOfFile(portal);
const provider = sharedByFile(() => startForgedProvider(portal.deps));
const beta = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  for (const username of ['alice', 'mallory', 'bob']) await addUser(portal, { username });
  await addUser(portal, { username: 'zoe', email: 'zoe@beta.test' });
  await addOidcConnection(portal, provider);
  await addOidcConnection(portal, beta, { key: 'beta-oidc', domains: ['beta.test'] });
});

let browser: BrowserForTest;
let other: BrowserForTest;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'visit', 'sso_subject', 'audit_event', 'throttle', 'job');
  await portal.sql`update customer set two_factor = 'off'`;
  browser = browserForTest(portal);
  other = browserForTest(portal);
  provider.requests.length = 0;
  as('alice@acme.test');
});

const failed = /^\/portal\/loginfail\/oidc(?:[?#]|$)/;
const as = (email: string) => provider.bend({ claims: (honest) => ({ ...honest, sub: email, email }) });
const sessions = async () => (await portal.sql`select from session`).length;
const reason = async () => (await lastFailure(portal))?.reason;
const who = (by = browser) => signedInAs(portal, by.cookies);
/** Begins a visit; returns the provider's answer to it. */
const begun = async (by = browser, typed = 'alice@acme.test', redirectURL = '/portal/reports') =>
  provider.visit(await departFor(by, typed, { redirectURL }));
const bring = async (callback: URL, by = browser) => String((await by.get(pathOf(callback))).headers.location);
const byPassword = (username: string) => browser.post('/portal/performlogin', { username, password: testPassword });
const enterCode = async (username: string) =>
  await browser.post(verifyUrl, { code: await codeByMail(portal, username) });
/** What of alice's visit the page shows that an answer leads to. */
const shown = async (callback: URL, by = browser) => {
  const location = await bring(callback, by);
  const page = `${location} ${(await by.get(location)).body}`;
  return ['alice@acme.test', 'reports'].filter((words) => page.includes(words));
};
const withState = (callback: URL, change: (state: string) => string[]) => {
  const changed = new URL(callback);
  const state = changed.searchParams.get('state') ?? '';
  changed.searchParams.delete('state');
  for (const value of change(state)) changed.searchParams.append('state', value);
  return changed;
};

describe('an answer belongs to one visit of one browser', () => {
  it('CK-01 OI-01 a browser has one token for its visits, in a cookie, with only its hash stored', async () => {
    await begun();
    const pressed = await browser.post('/portal/authenticate/performSsoLogin', { username: 'alice@acme.test' });
    const [cookie, ...more] = pressed.cookies;
    expect(more).toEqual([]);
    const maxAge = (limits.visit + limits.visitRemembered) / 1000;
    expect(cookie).toMatchObject({ name: 'vestibule-visit', path: '/', httpOnly: true, sameSite: 'Lax', maxAge });
    expect(cookie?.value).toMatch(/^[\w-]{43}$/);
    const own = tokenHash(cookie?.value ?? '');
    expect(await portal.sql`select from visit where browser_hash = ${own}`).toHaveLength(2);
    expect(portal.logs()).not.toContain(cookie?.value);
  });

  it.each<[string, (state: string) => string[]]>([
    ['no state', () => []],
    ['another state', (state) => [`${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`]],
    ['a part of the state', (state) => [state.slice(0, -1)]],
    ['the state twice', (state) => [state, state]],
  ])('OI-01 one with %s is refused, and the visit goes on', async (_what, change) => {
    const callback = await begun();
    const wrong = withState(callback, change);
    expect(await bring(wrong)).toMatch(failed);
    expect([await reason(), await sessions()]).toEqual(['request-unknown', 0]);
    expect(await bring(callback)).toBe('/portal/reports');
  });

  it('OI-01 one without state may have it in the fragment, which the next address replaces', async () => {
    expect(await bring(withState(await begun(), () => []))).toMatch(/#$/);
  });

  it.each([false, true])('OI-01 OI-14 one to another browser’s visit ends that (own visit: %s)', async (isVisiting) => {
    if (isVisiting) await departFor(other);
    const callback = await begun();
    expect(await shown(callback, other)).toEqual([]);
    expect(await reason()).toBe('other-browser');
    expect(await bring(callback)).toMatch(failed);
    expect([await sessions(), provider.requests.includes('/token')]).toEqual([0, false]);
  });

  it('OI-01 the token is another after a sign-out: who copied it before holds nothing of the next visit', async () => {
    await begun();
    Object.assign(other.cookies, browser.cookies);
    await browser.post('/portal/logout', {});
    expect(await bring(await begun(), other)).toMatch(failed);
    expect([await reason(), await sessions()]).toEqual(['other-browser', 0]);
  });

  it('OI-02 an answer of one provider to a visit to another is refused; both may be open at once', async () => {
    const mixed = await begun();
    beta.bend({ claims: (honest) => ({ ...honest, email: 'zoe@beta.test' }) });
    const atBeta = beta.visit(await departFor(browser, 'zoe@beta.test'));
    mixed.searchParams.set('code', atBeta.searchParams.get('code') ?? '');
    expect(await bring(mixed)).toMatch(failed);
    expect(await reason()).toBe('answer-invalid');
    expect(await bring(atBeta)).toBe('/portal/portal.html');
  });

  it('OI-14 an attacker’s code in a victim’s visit is refused: the verifier differs', async () => {
    as('mallory@acme.test');
    const code = (await begun(other)).searchParams.get('code') ?? '';
    const callback = await begun();
    callback.searchParams.set('code', code);
    expect(await bring(callback)).toMatch(failed);
    expect([await reason(), await sessions()]).toEqual(['answer-invalid', 0]);
  });

  it('OI-14 an attacker’s whole answer leaves a victim signed in as themselves', async () => {
    await bring(await begun());
    as('mallory@acme.test');
    expect(await bring(await begun(other))).toBe('/portal/portal.html');
    expect([await reason(), await who(), await sessions()]).toEqual(['other-browser', 'alice', 1]);
  });

  it('OI-28 another site’s page begins no visit, nor does a link', async () => {
    const foreign = { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } };
    const form = { username: 'alice@acme.test' };
    expect((await browser.post('/portal/authenticate/performSsoLogin', form, foreign)).statusCode).toBe(403);
    for (const call of ['performSsoLogin', 'checkSsoLogin'])
      await browser.get(`/portal/authenticate/${call}?username=alice@acme.test`);
    expect(await portal.sql`select from visit`).toHaveLength(0);
  });

  it('a HEAD of the callback consumes nothing', async () => {
    const callback = await begun();
    await browser.get(pathOf(callback), { method: 'HEAD' });
    expect(await bring(callback)).toBe('/portal/reports');
  });
});

describe('a visit is used once', () => {
  it('OI-13 RC-04 its answer, loaded again, leads on and signs in nobody again', async () => {
    const callback = await begun();
    expect(await bring(callback)).toBe('/portal/reports');
    const token = browser.cookies['vestibule-session'];
    expect(await bring(callback)).toBe('/portal/reports');
    expect([browser.cookies['vestibule-session'], await sessions()]).toEqual([token, 1]);
    await browser.post('/portal/logout', {});
    expect(await bring(callback)).toMatch(failed);
    expect([await reason(), await sessions()]).toEqual(['request-unknown', 0]);
  });

  it('RC-04 nor does it while the second factor is open', async () => {
    await portal.sql`update customer set two_factor = 'email'`;
    const callback = await begun();
    for (let loads = 0; loads < 2; loads += 1) expect(await bring(callback)).toContain('/twoFactor');
    expect(await sessions()).toBe(1);
    await enterCode('alice');
    expect(await bring(callback)).toBe('/portal/portal.html');
  });

  it('OI-13 RC-04 ten at once over two instances make one session', async () => {
    for (let round = 0; round < (runsAll ? 20 : 2); round += 1) {
      await portal.sql`delete from session`;
      const url = pathOf(await begun());
      const { cookies } = browser;
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) => (n % 2 ? portal : second).send({ url, cookies })),
      );
      expect(answers.filter(({ headers }) => headers.location === '/portal/reports')).toHaveLength(1);
      expect(await sessions()).toBe(1);
      expect(provider.requests.filter((path) => path === '/token')).toHaveLength(round + 1);
    }
  });

  it('CK-05 OI-01 one that comes too late returns the typed name and the destination', async () => {
    const callback = await begun();
    portal.wait(limits.visit);
    expect(await shown(callback)).toEqual(['alice@acme.test', 'reports']);
    expect(await reason()).toBe('request-unknown');
    second.wait(limits.visit);
  });
});

describe('whoever signs in or out in a browser ends its visits', () => {
  it.each<[string, () => unknown]>([
    ['a password', () => byPassword('bob')],
    [
      'a password with the second factor open',
      async () => {
        await portal.sql`update customer set two_factor = 'email'`;
        await byPassword('bob');
      },
    ],
    [
      'a second factor',
      async () => {
        await portal.sql`update customer set two_factor = 'email'`;
        await byPassword('bob');
        await enterCode('bob');
      },
    ],
    ['a sign-out', () => browser.post('/portal/logout', {})],
  ])('SE-15 with %s, and the next person sees nothing of them', async (_what, end) => {
    const callback = await begun();
    await end();
    expect(await shown(callback)).toEqual([]);
    expect(await who()).not.toBe('alice');
  });

  it('SE-15 with the answer to one of them: the others lead on in that session', async () => {
    const callback = await begun();
    as('bob@acme.test');
    await bring(await begun());
    expect(await bring(callback)).toBe('/portal/reports');
    expect([await who(), await sessions()]).toEqual(['bob', 1]);
  });

  it('SE-15 a used one leads on only whoever signed in by it', async () => {
    const callback = await begun();
    const leave = `/portal/authenticate/leave?visit=${(await portal.sql`select id from visit`)[0]?.id}`;
    await bring(callback);
    expect((await browser.get(leave)).headers.location).toBe('/portal/portal.html');
    await byPassword('bob');
    expect(await shown(callback)).toEqual([]);
    expect((await browser.get(leave)).headers.location).toBe('/portal/portal.html');
    expect(await who()).toBe('bob');
  });
});

describe('an answer for somebody while somebody else is signed in', () => {
  const answerForAlice = async () => {
    await byPassword('bob');
    return await bring(await begun(browser, 'alice@acme.test', '/portal/reports?week=7'));
  };

  it('SE-15 replaces nothing and stores nothing: the operator sees why', async () => {
    await answerForAlice();
    expect([await who(), await sessions()]).toEqual(['bob', 1]);
    expect(await portal.sql`select from sso_subject`).toHaveLength(0);
    const steps = expect.arrayContaining([{ step: 'signed in here', outcome: 'bob' }]);
    expect(await lastFailure(portal)).toMatchObject({ reason: 'signed-in-as-other', username: 'alice', steps });
  });

  it('SE-15 leads to a page that names who is signed in, and offers to go on or to sign out', async () => {
    const { body } = await browser.get(await answerForAlice());
    for (const words of ['This browser is signed in as bob', 'Sign out and go on', 'Continue as bob'])
      expect(body).toContain(words);
    expect(body).not.toContain('alice');
    const action = (/<form action="(\/portal\/logout[^"]*)"/.exec(body)?.[1] ?? '').replaceAll('&amp;', '&');
    const { location } = (await browser.post(action, {})).headers;
    expect(location).toBe('/portal/login?destination=%2Fportal%2Freports%3Fweek%3D7');
    expect(await who()).toBeNull();
  });

  it('gives whoever is signed in as the same person a new session', async () => {
    await byPassword('alice');
    const before = browser.cookies['vestibule-session'];
    await bring(await begun());
    expect([await who(), await sessions()]).toEqual(['alice', 1]);
    expect(browser.cookies['vestibule-session']).not.toBe(before);
  });
});

it('OI-02 failed answers block nobody at their address from beginning a visit, and those who began come in', async () => {
  const stray = `/portal/authenticate/oidc/callback/acme-oidc?state=${'A'.repeat(43)}`;
  await browser.get(stray);
  expect(await portal.sql`select from throttle where key like 'sso-%'`).toHaveLength(0);
  await portal.sql`update throttle set failures = 1e6, blocked_until = ${new Date(portal.deps.now().getTime() + 60_000)}`;
  const callback = await begun();
  expect((await browser.get(stray)).statusCode).toBe(429);
  expect(await bring(callback)).toBe('/portal/reports');
});
