import { describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile } from '#test/support/portal-of-file.ts';
import { holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import { runsAll } from '#test/support/runs-all.ts';
import { type BrowserForTest, browserForTest, departFor, lastFailure, pathOf } from '#test/support/sso-for-test.ts';
import { ssoOfFile } from '#test/support/sso-of-file.ts';
import { codeByMail, verifyUrl } from '#test/support/two-factor-for-test.ts';
import { tokenHash } from '../crypto/token.ts';

let browser: BrowserForTest;
let other: BrowserForTest;
const sso = ssoOfFile({
  people: ['alice', 'mallory', 'bob', { username: 'zoe', email: 'zoe@beta.test' }],
  oidc: { provider: {}, beta: { key: 'beta-oidc', domains: ['beta.test'] } },
  also: (portal) => {
    portal.deps.config.freshAfterSignOut = true;
    [browser, other] = [browserForTest(portal), browserForTest(portal)];
    for (const one of [provider, beta]) one.requests.length = 0;
    as('alice@acme.test');
  },
});
const { portal, sessions, reason } = sso;
const { provider, beta } = sso.ops;
const second = otherInstanceOfFile(portal);

const failed = /^\/portal\/loginfail\/oidc(?:[?#]|$)/;
const as = (email: string) => provider.bend({ claims: (honest) => ({ ...honest, sub: email, email }) });
const who = (by = browser) => sso.who(by);
/** Begins a visit; returns the provider's answer to it. */
const begun = async (by = browser, typed = 'alice@acme.test', redirectURL = '/portal/reports') =>
  provider.visit(await departFor(by, typed, { redirectURL }));
const bring = async (callback: URL, by = browser) => String((await by.get(pathOf(callback))).headers.location);
const byPassword = (username: string) => browser.post('/portal/performlogin', { username, password: testPassword });
const signOut = () => browser.post('/portal/logout', {});
const requireCode = () => portal.sql`update customer set two_factor = 'email'`;
const enterCode = async (username: string) =>
  await browser.post(verifyUrl, { code: await codeByMail(portal, username) });
/** What of alice's visit the page shows that an answer leads to. */
const shown = async (callback: URL, by = browser) => {
  const location = await bring(callback, by);
  const page = `${location} ${(await by.get(location)).body}`;
  return ['alice@acme.test', 'reports'].filter((words) => page.includes(words));
};
async function expectRefused(callback: URL, why: string, by = browser): Promise<void> {
  expect(await bring(callback, by)).toMatch(failed);
  expect([await reason(), await sessions()]).toEqual([why, 0]);
}

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
    ['the state twice', (state) => [state, state]],
  ])('OI-01 one with %s is refused, and the visit goes on', async (what, change) => {
    const callback = await begun();
    const wrong = new URL(callback);
    wrong.searchParams.delete('state');
    for (const value of change(callback.searchParams.get('state') ?? '')) wrong.searchParams.append('state', value);
    await expectRefused(wrong, 'request-unknown');
    // An answer in the fragment, without a state here, is not taken along.
    if (what === 'no state') expect(await bring(wrong)).toMatch(/#$/);
    expect(await bring(callback)).toBe('/portal/reports');
  });

  it.each([false, true])('OI-01 OI-14 one to another browser’s visit ends that (own visit: %s)', async (isVisiting) => {
    if (isVisiting) await departFor(other);
    const callback = await begun();
    expect(await shown(callback, other)).toEqual([]);
    expect(await reason()).toBe('other-browser');
    expect(await bring(callback)).toMatch(failed);
    expect([await sessions(), provider.requests.includes('/token')]).toEqual([0, false]);
  });

  it('OI-02 an answer of one provider to a visit to another is refused; both may be open at once', async () => {
    const mixed = await begun();
    beta.bend({ claims: (honest) => ({ ...honest, email: 'zoe@beta.test' }) });
    const atBeta = beta.visit(await departFor(browser, 'zoe@beta.test'));
    mixed.searchParams.set('code', atBeta.searchParams.get('code') ?? '');
    await expectRefused(mixed, 'answer-invalid');
    expect(await bring(atBeta)).toBe('/portal/portal.html');
  });

  it('OI-14 an attacker’s code in a victim’s visit is refused: the verifier differs', async () => {
    as('mallory@acme.test');
    const code = (await begun(other)).searchParams.get('code') ?? '';
    const callback = await begun();
    callback.searchParams.set('code', code);
    await expectRefused(callback, 'answer-invalid');
  });

  it('OI-14 an attacker’s whole answer leaves a victim signed in as themselves', async () => {
    await bring(await begun());
    as('mallory@acme.test');
    expect(await bring(await begun(other))).toBe('/portal/portal.html');
    expect([await reason(), await who(), await sessions()]).toEqual(['other-browser', 'alice', 1]);
  });

  /** The victim begins at the attacker's provider, which redirects to the honest one with nonce and challenge of its own visit there. */
  it('OI-31 mix-up (RFC 9700 §4.4): an honest provider’s code reaches no other token endpoint, and signs in nobody', async () => {
    const attackers = await departFor(other, 'anybody@acme.test');
    const bounced = new URL(attackers);
    const victims = new URL(await departFor(browser, 'alice@beta.test'));
    bounced.searchParams.set('state', victims.searchParams.get('state') ?? '');
    await expectRefused(provider.visit(bounced.href), 'answer-invalid');
    expect(beta.requests).not.toContain('/token');
    for (const path of ['', '/', '/other', '/beta-oidc', '/ACME-OIDC', '/acme-oidc%2F', '/%00', '/acme-oidc%20']) {
      const { search } = await begun();
      const { statusCode } = await browser.get(`/portal/authenticate/oidc/callback${path}${search}`);
      expect([303, 404], path).toContain(statusCode);
    }
    expect([provider.requests.includes('/token'), await sessions()]).toEqual([false, 0]);
  });

  it('OI-28 another site’s page begins no visit, nor does a link; a HEAD of the callback consumes nothing', async () => {
    const foreign = { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } };
    const form = { username: 'alice@acme.test' };
    expect((await browser.post('/portal/authenticate/performSsoLogin', form, foreign)).statusCode).toBe(403);
    for (const call of ['performSsoLogin', 'checkSsoLogin'])
      await browser.get(`/portal/authenticate/${call}?username=alice@acme.test`);
    expect(await portal.sql`select from visit`).toHaveLength(0);
    const callback = await begun();
    await browser.get(pathOf(callback), { method: 'HEAD' });
    expect(await bring(callback)).toBe('/portal/reports');
  });
});

describe('a visit is used once', () => {
  it('OI-13 RC-04 its answer, loaded again, leads on and signs in nobody again', async () => {
    const callback = await begun();
    await bring(callback);
    const token = browser.cookies['vestibule-session'];
    expect(await bring(callback)).toBe('/portal/reports');
    expect([browser.cookies['vestibule-session'], await sessions()]).toEqual([token, 1]);
    await signOut();
    await expectRefused(callback, 'request-unknown');
    await requireCode();
    const again = await begun();
    for (let loads = 0; loads < 2; loads += 1) expect(await bring(again)).toContain('/twoFactor');
    expect(await sessions()).toBe(1);
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

  it('CK-05 OI-01 an answer that comes too late returns the typed name and the destination', async () => {
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
    ['a second factor', async () => [await requireCode(), await byPassword('bob'), await enterCode('bob')]],
    ['a sign-out', signOut],
  ])('SE-15 with %s, and the next person sees nothing of them', async (_what, end) => {
    const callback = await begun();
    await end();
    expect(await shown(callback)).toEqual([]);
    expect(await who()).not.toBe('alice');
  });

  it('SE-15 a used one leads on only whoever signed in by it', async () => {
    const [callback, another] = [await begun(), await begun()];
    const leave = `/portal/authenticate/leave?visit=${(await portal.sql`select id from visit`)[0]?.id}`;
    await bring(callback);
    for (const url of [leave, pathOf(another)]) expect((await browser.get(url)).statusCode).toBe(303);
    expect([await who(), await sessions()]).toEqual(['alice', 1]);
    await byPassword('bob');
    expect(await shown(callback)).toEqual([]);
    expect((await browser.get(leave)).headers.location).toBe('/portal/portal.html');
    expect(await who()).toBe('bob');
  });

  it('SE-15 a visit whose end is being decided when somebody signs out signs nobody in', async () => {
    await byPassword('alice');
    const answer = pathOf(await begun());
    const release = await holdRows(portal.sql, (sql) => sql`select from sso_connection for update`);
    const deciding = browser.get(answer);
    await untilWaiting(portal.sql, 1);
    await signOut();
    await release();
    expect((await deciding).headers.location).toMatch(failed);
    expect(await sessions()).toBe(0);
  });

  /** Whether the provider is asked for a fresh sign-in, in all words for it. */
  const wishesOf = (url: string) => ['prompt', 'max_age'].map((name) => new URL(url).searchParams.get(name));

  it.each<[string, boolean, () => unknown]>([
    ['a sign-out', true, signOut],
    ['a sign-out, and a sign-in by password', true, async () => [await signOut(), await byPassword('alice')]],
    ['a session that ends by itself', false, () => portal.sql`delete from session`],
    [
      'a sign-out where the operator turned it off',
      false,
      async () => {
        await signOut();
        portal.deps.config.freshAfterSignOut = false;
      },
    ],
  ])('SE-15 the visit after %s asks the provider for a fresh sign-in, once: %s', async (_what, isAsked, end) => {
    await bring(await begun());
    await end();
    const wishes = [wishesOf(await departFor(browser)), wishesOf(await departFor(browser))];
    expect(wishes).toEqual([isAsked ? ['login', '0'] : [null, null], [null, null]]);
  });
});

it('SE-15 an answer while somebody else is signed in replaces nothing: a page names them, and offers to sign out', async () => {
  await byPassword('bob');
  const location = await bring(await begun(browser, 'alice@acme.test', '/portal/reports?week=7'));
  expect([await who(), await sessions()]).toEqual(['bob', 1]);
  expect(await portal.sql`select from sso_subject`).toHaveLength(0);
  const steps = expect.arrayContaining([{ step: 'signed in here', outcome: 'bob' }]);
  expect(await lastFailure(portal)).toMatchObject({ reason: 'signed-in-as-other', username: 'alice', steps });
  const { body } = await browser.get(location);
  for (const words of ['This browser is signed in as bob', 'Sign out and go on', 'Continue as bob'])
    expect(body).toContain(words);
  expect(body).not.toContain('alice');
  const action = (/<form action="(\/portal\/logout[^"]*)"/.exec(body)?.[1] ?? '').replaceAll('&amp;', '&');
  const left = await browser.post(action, {});
  expect(left.headers.location).toBe('/portal/login?destination=%2Fportal%2Freports%3Fweek%3D7');
  // Whoever is signed in as the same person gets a new session.
  await byPassword('alice');
  const before = browser.cookies['vestibule-session'];
  await bring(await begun());
  expect([await who(), await sessions()]).toEqual(['alice', 1]);
  expect(browser.cookies['vestibule-session']).not.toBe(before);
});
