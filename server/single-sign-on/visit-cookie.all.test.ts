import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { emptyTables } from '#test/support/rows-for-test.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  lastFailure,
  pathOf,
} from '#test/support/sso-for-test.ts';
import { tokenHash } from '../crypto/token.ts';

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'mallory' });
  await addUser(portal, { username: 'bob' });
  await addOidcConnection(portal, provider);
});

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'visit', 'sso_subject', 'audit_event', 'throttle', 'job');
  await portal.sql`update customer set two_factor = 'off'`;
  browser = browserForTest(portal);
  provider.bend({});
  as('alice@acme.test');
});

const failed = /^\/portal\/loginfail\/oidc(?:\?|$)/;
const as = (email: string) =>
  provider.bend({ claims: (honest) => ({ ...honest, sub: email, email, email_verified: true }) });
const sessions = async () => (await portal.sql`select from session`).length;
const visitsOf = ({ cookies }: BrowserForTest) => Object.keys(cookies).filter((name) => name === 'vestibule-visit');
const begin = async (typed = 'alice@acme.test', redirectURL = '/portal/reports', by = browser) =>
  pathOf(provider.visit(await departFor(by, typed, { redirectURL })));
const signInByPassword = (username: string) =>
  browser.post('/portal/performlogin', { username, password: testPassword });
const mailedCode = async () => {
  await portal.workOff();
  portal.wait(1000);
  await portal.workOff();
  return /\b(\d{6})\b/.exec(portal.mails.at(-1)?.text ?? '')?.[1] ?? '';
};
/** The private data shown by the page an answer leads to, or its address. */
const shown = async (callback: string, by = browser) => {
  const { location } = (await by.get(callback)).headers;
  const page = `${location} ${(await by.get(String(location))).body}`;
  return ['alice@acme.test', 'reports', 'bob@acme.test', 'plan-of-bob'].filter((words) => page.includes(words));
};
const hers = ['alice@acme.test', 'reports'];
const ofAlice = async (callback: string) => (await shown(callback)).filter((words) => hers.includes(words));

describe('the token of a browser that begins a visit', () => {
  it('CK-01 OI-01 is one for its tabs, in a cookie, with only its hash stored', async () => {
    await begin();
    const pressed = await browser.post('/portal/authenticate/performSsoLogin', { username: 'alice@acme.test' });
    const [cookie, ...more] = pressed.cookies;
    expect(more).toEqual([]);
    expect(cookie).toMatchObject({
      path: '/',
      httpOnly: true,
      sameSite: 'Lax',
      maxAge: (limits.visit + limits.visitRemembered) / 1000,
    });
    expect(cookie?.name).toBe('vestibule-visit');
    expect(cookie?.value).toMatch(/^[\w-]{43}$/);
    const rows = await portal.sql<{ hash: Buffer }[]>`select browser_hash as hash from visit`;
    const own = tokenHash(cookie?.value ?? '').toString('hex');
    expect(rows.map(({ hash }) => hash.toString('hex'))).toEqual([own, own]);
    expect(portal.logs()).not.toContain(cookie?.value);
  });

  it('OI-01 is another after a sign-out: an earlier user of the browser holds nothing of the next visit', async () => {
    await begin('mallory@acme.test');
    const thief = browserForTest(portal);
    Object.assign(thief.cookies, browser.cookies);
    await browser.post('/portal/logout', {});
    const callback = await begin('alice@acme.test');
    expect((await thief.get(callback)).headers.location).toMatch(failed);
    expect((await lastFailure(portal))?.reason).toBe('other-browser');
    expect(await sessions()).toBe(0);
  });

  it('OI-01 of another browser shows nothing of whoever began', async () => {
    const callback = await begin();
    const other = browserForTest(portal);
    await begin('bob@acme.test', '/portal/plan-of-bob', other);
    portal.wait(limits.visit);
    expect(await shown(callback, other)).toEqual([]);
  });
});

describe('the visits of a browser end', () => {
  it('CK-05 with their time, and one that comes later returns the typed name and the destination', async () => {
    const callback = await begin();
    portal.wait(limits.visit);
    expect(await shown(callback)).toEqual(hers);
    const leave = (await browser.post('/portal/authenticate/performSsoLogin', { username: 'alice@acme.test' })).headers;
    portal.wait(limits.visit);
    const answer = await browser.get(String(leave.location));
    expect(answer.headers.location).toContain('notice=signInExpired');
    expect((await browser.get(String(answer.headers.location))).body).toContain('value="alice@acme.test"');
    expect((await browser.get(String(leave.location))).headers.location).toContain('notice=signInExpired');
  });

  it('SE-15 with a sign-in, by password or awaiting the second factor', async () => {
    for (const twoFactor of ['off', 'email']) {
      await portal.sql`update customer set two_factor = ${twoFactor}`;
      const callback = await begin();
      await signInByPassword('bob');
      expect(await ofAlice(callback), twoFactor).toEqual([]);
    }
  });

  it('SE-15 with the second factor, if a visit began meanwhile', async () => {
    await portal.sql`update customer set two_factor = 'email'`;
    await signInByPassword('bob');
    const callback = await begin();
    const code = await mailedCode();
    await browser.post('/portal/two-factor-authentication/verify', { code });
    expect(await ofAlice(callback)).toEqual([]);
  });

  it('SE-15 with a sign-in by a provider, whoever began the others', async () => {
    const other = await begin('alice@acme.test', '/portal/other');
    const his = await begin('bob@acme.test', '/portal/plan-of-bob');
    await browser.get(await begin());
    expect((await browser.get(other)).headers.location).toBe('/portal/other');
    expect(await shown(his)).toEqual(['plan-of-bob']);
  });

  it('SE-15 with a sign-out, by a form or by a script, and the token too', async () => {
    for (const accept of ['text/html', 'application/json']) {
      const callback = await begin();
      await browser.post('/portal/logout', {}, { headers: { accept, origin: 'http://localhost:8080' } });
      await signInByPassword('alice');
      const during = await begin();
      await browser.post('/portal/logout', {}, { headers: { accept, origin: 'http://localhost:8080' } });
      expect(visitsOf(browser), accept).toEqual([]);
      for (const one of [callback, during]) expect(await shown(one), accept).toEqual([]);
    }
  });
});

describe('a visit that was used, loaded again', () => {
  it('SE-15 leads on whoever signed in by it, and shows nothing of it to the next person', async () => {
    const callback = await begin();
    const leave = `/portal/authenticate/leave?visit=${(await portal.sql`select id from visit`)[0]?.id}`;
    await browser.get(callback);
    expect((await browser.get(callback)).headers.location).toBe('/portal/reports');
    expect((await browser.get(leave)).headers.location).toBe('/portal/portal.html');
    await signInByPassword('bob');
    for (const url of [callback, leave]) expect(await ofAlice(url)).toEqual([]);
    expect(await sessions()).toBeGreaterThan(0);
  });

  it('RC-04 signs nobody in again, also while its second factor is open', async () => {
    await portal.sql`update customer set two_factor = 'email'`;
    const callback = await begin();
    expect((await browser.get(callback)).headers.location).toContain('/twoFactor');
    expect((await browser.get(callback)).headers.location).toContain('/twoFactor');
    expect(await sessions()).toBe(1);
    const code = await mailedCode();
    await browser.post('/portal/two-factor-authentication/verify', { code });
    expect((await browser.get(callback)).headers.location).toBe('/portal/portal.html');
  });
});
