import type { Response } from 'light-my-request';
import { beforeEach, describe, expect, it } from 'vitest';
import { changeUser } from '#server/accounts/change-user.ts';
import { resetTwoFactor } from '#server/accounts/reset-two-factor.ts';
import { signOutUser } from '#server/accounts/sign-out-user.ts';
import { postAccount, signedIn } from '#testing/account-page-for-test.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { cookiesOf } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { changeTo, linkFor, newPassword } from '#testing/reset-for-test.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  lastFailure,
  pathOf,
} from '#testing/sso-for-test.ts';
import { giveApp, signInWithApp } from '#testing/two-factor-for-test.ts';

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));

let browser: BrowserForTest;
let owner: Record<string, string>;
beforeEach(async () => {
  await emptyDatabase(portal);
  portal.mails.length = 0;
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addOidcConnection(portal, provider);
  provider.bend({ claims: (honest) => ({ ...honest, email: 'alice@acme.test', email_verified: true }) });
  browser = browserForTest(portal);
  owner = await signedIn(portal, 'alice');
});

const who = async (cookies = browser.cookies) => await signedInAs(portal, cookies);
const now = () => portal.deps.now();
const begin = async (typed = 'alice@acme.test') => pathOf(provider.visit(await departFor(browser, typed)));
const signInAtProvider = async () => await browser.get(await begin());

/** Somebody at another browser has begun; only the last step is left. */
const waiting: Record<string, () => Promise<() => Promise<Response>>> = {
  'an answer at the provider': async () => {
    const callback = await begin();
    return async () => await browser.get(callback);
  },
  'an answer that the browser has brought': async () => {
    const brought = await browser.open(await begin());
    return async () => await browser.open(String(brought.headers.location));
  },
  'a question': async () => {
    const asked = await browser.get(await begin('somebody@acme.test'));
    const request = String(asked.headers.location).slice(-36);
    return async () => await browser.post('/portal/authenticate/other-account', { request });
  },
};

const ends: Record<string, () => Promise<unknown>> = {
  'user sign-out': () => signOutUser(portal.sql, 'alice', now()),
  'a password set by an operator': () => changeUser(portal.sql, 'alice', { passwordHash: 'another' }, now()),
  'a deactivation, taken back': async () => {
    await changeUser(portal.sql, 'alice', { active: false }, now());
    await changeUser(portal.sql, 'alice', { active: true }, now());
  },
  'user reset-two-factor': async () => {
    await giveApp(portal, 'alice');
    await resetTwoFactor(portal.sql, 'alice', now());
  },
  'a password changed by a link': async () => await changeTo(portal, await linkFor(portal, 'alice'), newPassword),
  '“Sign out everywhere else”': () => postAccount(portal, 'sessions', { do: 'endOthers' }, owner),
};

describe('SE-13 a visit in a browser without a session ends', () => {
  for (const [what, wait] of Object.entries(waiting)) {
    it(`with the app that is removed, ${what}`, async () => {
      const withApp = await signInWithApp(portal, 'alice', await giveApp(portal, 'alice'));
      const lastStep = await wait();
      portal.wait(1);
      await postAccount(portal, 'app', { do: 'remove' }, withApp);
      expect(await portal.sql`select from totp`).toHaveLength(0);
      portal.wait(1);
      await lastStep();
      expect(await who()).toBeNull();
    });
  }
});

it('a visit in another tab of the browser that signs out everywhere else goes on', async () => {
  browser.cookies = { ...owner };
  const callback = await begin();
  portal.wait(1);
  const answer = await postAccount(portal, 'sessions', { do: 'endOthers' }, browser.cookies);
  Object.assign(browser.cookies, cookiesOf(answer));
  portal.wait(1);
  await browser.get(callback);
  const [session] = await portal.sql`select connection_id is not null as "isByProvider" from session`;
  expect([await who(), session]).toEqual(['alice', { isByProvider: true }]);
});

describe('SE-13 what ends all sessions of a person ends what waits in a browser without one', () => {
  for (const [how, end] of Object.entries(ends))
    for (const [what, wait] of Object.entries(waiting))
      it(`${how}, ${what}`, async () => {
        const lastStep = await wait();
        portal.wait(1);
        await end();
        portal.wait(1);
        const { location } = (await lastStep()).headers;
        expect(location).toMatch(/^\/portal\/singleSignOn\?notice=signInExpired/);
        expect(await who()).toBeNull();
        const failure = await lastFailure(portal);
        expect([failure?.reason, failure?.steps.at(-1)?.outcome]).toEqual([
          'request-unknown',
          expect.stringMatching(/^to a visit from before all sessions were ended, at 2/),
        ]);
        await signInAtProvider();
        expect(await who()).toBe('alice');
      });
});

it('the form then still has the name that was typed, and the page asked for', async () => {
  const asked = { redirectURL: '/portal/reports' };
  const callback = pathOf(provider.visit(await departFor(browser, 'alice@acme.test', asked)));
  portal.wait(1);
  await signOutUser(portal.sql, 'alice', now());
  const form = await browser.get(String((await browser.get(callback)).headers.location));
  expect(form.body).toMatch(/name="username"[^>]*value="alice@acme\.test"/);
  expect(form.body).toMatch(/name="redirectURL"[^>]*value="\/portal\/reports"/);
});

it('a visit that nothing has ended signs in', async () => {
  for (const wait of Object.values(waiting)) {
    browser = browserForTest(portal);
    const lastStep = await wait();
    portal.wait(1);
    await signOutUser(portal.sql, 'alice', now(), '00000000-0000-4000-8000-000000000000');
    await lastStep();
    expect(await who()).toBe('alice');
  }
});

it('SE-13 a session of a provider that speaks for a part of the account ends visits to that provider only', async () => {
  await addCustomer(portal, 'other');
  await portal.sql`insert into membership select u.id, c.id from portal_user u, customer c where c.key = 'other'`;
  await addOidcConnection(portal, provider, { key: 'other', customerKey: 'other', domains: ['other.test'] });
  await portal.sql`
    insert into sso_subject (connection_id, subject, user_id, linked_at)
    select c.id, 'subject of alice', u.id, now() from portal_user u, sso_connection c where c.key = 'other'`;
  // The button needs a second session.
  await signInAtProvider();
  const { cookies } = browser;
  browser = browserForTest(portal);
  await signInAtProvider();
  browser = browserForTest(portal);
  const same = await begin();
  const others = await begin('alice@other.test');
  portal.wait(1);
  const { body } = await portal.send({ url: '/portal/account/sessions', cookies });
  const [, form = ''] = /name="form" value="([^"]+)"/.exec(body) ?? [];
  await postAccount(portal, 'sessions', { do: 'endOthers', form }, cookies);
  portal.wait(1);
  await browser.get(same);
  expect(await who()).toBeNull();
  const asked = await browser.get(others);
  await browser.post('/portal/authenticate/other-account', { request: String(asked.headers.location).slice(-36) });
  expect(await who()).toBe('alice');
});
