import { inflateRawSync } from 'node:zlib';
import type { Response } from 'light-my-request';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { type ForgedProvider, startForgedProvider } from '#testing/forged-openid-provider.ts';
import { type TestRequest, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { addSamlConnection, samlProvider } from '#testing/saml-sign-in-for-test.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  followLeavePage,
  keepCookies,
  pathOf,
} from '#testing/sso-for-test.ts';
import { afreshVisits } from '../visitor/ask-afresh.ts';

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addOidcConnection(portal, provider);
});

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'sso_request', 'sso_subject', 'audit_event', 'throttle', 'mail');
  await portal.sql`update customer set two_factor = 'off'`;
  portal.mails.length = 0;
  browser = browserForTest(portal);
  answerWith({});
});

const alice = { sub: 'alice', email: 'alice@acme.test', email_verified: true };
const pressButton = () => browser.post('/portal/authenticate/checkSsoLogin', {});
const signOut = () => browser.post('/portal/logout', {});
const comeBack = async (url: string) => await browser.get(pathOf(provider.visit(url)));
const wishesOf = (url: string) => {
  const { searchParams } = new URL(url);
  return [searchParams.get('prompt'), searchParams.get('max_age')];
};
const afresh = ['login', '0'];
const asEver = [null, null];
const mailedCode = async () => {
  await portal.workOff();
  portal.wait(1000);
  await portal.workOff();
  return /\b(\d{6})\b/.exec(portal.mails.at(-1)?.text ?? '')?.[1] ?? '';
};
const leadsToForm = (answer: Response) => expect(answer.headers.location).toBe('/portal/singleSignOn');

it('SE-15 after a sign-out the button asks the provider to authenticate again, until someone is signed in', async () => {
  await comeBack(await departFor(browser));
  expect(wishesOf(await followLeavePage(browser, await pressButton()))).toEqual(asEver);
  await signOut();
  expect(wishesOf(await followLeavePage(browser, await pressButton()))).toEqual(afresh);
  expect(wishesOf(await departFor(browser))).toEqual(afresh);
  const url = await followLeavePage(browser, await pressButton());
  expect(wishesOf(url)).toEqual(afresh);
  await comeBack(url);
  delete browser.cookies['vestibule-session'];
  expect(wishesOf(await followLeavePage(browser, await pressButton()))).toEqual(asEver);
});

it('SE-15 a visit that is out when a second factor is abandoned ends: who has gone may have signed in at the provider since', async () => {
  await portal.sql`update customer set two_factor = 'email'`;
  const url = await departFor(browser);
  portal.wait(10_000);
  answerWith({ auth_time: Math.floor(portal.deps.now().getTime() / 1000) });
  expect((await comeBack(await departFor(browser))).headers.location).toContain('/portal/twoFactor');
  await signOut();
  expect((await comeBack(url)).headers.location).toBe('/portal/loginfail/oidc');
  expect(await portal.sql`select from session`).toEqual([]);
});

it('SE-15 so does one when somebody signs out to sign in again for an app', async () => {
  const url = await departFor(browser);
  portal.wait(10_000);
  answerWith({ auth_time: Math.floor(portal.deps.now().getTime() / 1000) });
  await comeBack(await departFor(browser));
  const again = `destination=${encodeURIComponent('/portal/account/app?do=setUp')}`;
  expect((await browser.post(`/portal/logout?${again}`, {})).headers.location).toContain('/portal/login?destination=');
  expect(browser.cookies).not.toHaveProperty('vestibule-signed-out');
  expect((await comeBack(url)).headers.location).toBe('/portal/loginfail/oidc');
  expect(await portal.sql`select from session`).toEqual([]);
});

it('SE-15 a password sign-in and sign-out by the next person does not cancel that', async () => {
  await comeBack(await departFor(browser));
  await signOut();
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  expect(wishesOf(await followLeavePage(browser, await pressButton()))).toEqual(afresh);
});

it('SE-15 abandoning a second factor has the same effect', async () => {
  await portal.sql`update customer set two_factor = 'email'`;
  await comeBack(await departFor(browser));
  await signOut();
  expect(wishesOf(await departFor(browser))).toEqual(afresh);
});

it('SE-15 SAML: after a sign-out the request says ForceAuthn, and before it does not', async () => {
  const saml = await samlProvider('idp.saml.test', portal.deps.now());
  await addSamlConnection(portal, saml, { key: 'saml', domains: ['saml.test'] });
  const forced = async () => {
    const asked = new URL(await departFor(browser, 'somebody@saml.test')).searchParams.get('SAMLRequest') ?? '';
    return / ForceAuthn="true"/.test(inflateRawSync(Buffer.from(asked, 'base64')).toString());
  };
  expect(await forced()).toBe(false);
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  expect(await forced()).toBe(false);
  await signOut();
  expect(await forced()).toBe(true);
});

it('an invalid answer, or a session that has ended, changes nothing', async () => {
  await comeBack(await departFor(browser));
  await portal.sql`delete from session`;
  expect(wishesOf(await followLeavePage(browser, await pressButton()))).toEqual(asEver);
  await signOut();
  await browser.get(`/portal/authenticate/oidc/callback/acme-oidc?state=${'A'.repeat(43)}`);
  expect(wishesOf(await departFor(browser))).toEqual(afresh);
});

it('SE-15 a connection is remembered once the person is signed in, after the second factor if there is one', async () => {
  leadsToForm(await pressButton());
  await portal.sql`update customer set two_factor = 'email'`;
  await comeBack(await departFor(browser));
  leadsToForm(await pressButton());
  const code = await mailedCode();
  await browser.post('/portal/two-factor-authentication/verify', { code });
  await followLeavePage(browser, await pressButton());
});

const asking = /^\/portal\/authenticate\/other-account\?request=/;
const who = async () => await signedInAs(portal, browser.cookies);
const agree = async ({ headers }: Response) =>
  await browser.post('/portal/authenticate/other-account', { request: String(headers.location).slice(-36) });
/** What the provider's answers say besides who it is; `callback` replaces the whole answer. */
const answerWith = (more: Record<string, unknown>, callback?: (parameters: URLSearchParams) => void) =>
  provider.bend({ claims: (honest) => ({ ...honest, ...alice, ...more }), ...(callback && { callback }) });
const error = (code: string) => (parameters: URLSearchParams) => {
  parameters.delete('code');
  parameters.set('error', code);
};
const seconds = () => Math.floor(portal.deps.now().getTime() / 1000);
const asked = async () =>
  await portal.sql<{ event: string; username: string; steps: { step: string; outcome: string }[] }[]>`
    select event, username, steps from audit_event where event like 'account-change-%' order by id`;

describe('a fresh sign-in that comes to nothing', () => {
  it('a provider that cannot do it is not asked again: the next visit is an ordinary one, and its answer asks', async () => {
    await signOut();
    answerWith({}, error('invalid_request'));
    const failed = await comeBack(await departFor(browser));
    expect(failed.headers.location).toMatch(/^\/portal\/loginfail\/oidc/);
    answerWith({});
    const url = await departFor(browser);
    expect(wishesOf(url)).toEqual(asEver);
    const question = await comeBack(url);
    expect(question.headers.location).toMatch(asking);
    expect(await who()).toBeNull();
    expect((await browser.get(String(question.headers.location))).body).toContain('alice');
    await agree(question);
    expect(await who()).toBe('alice');
    expect(wishesOf(await departFor(browser))).toEqual(asEver);
    expect((await asked()).map(({ event, username }) => [event, username])).toEqual([
      ['account-change-asked', 'alice'],
      ['account-change-agreed', 'alice'],
    ]);
    expect((await asked())[0]?.steps).toContainEqual({ step: 'signed in here', outcome: 'nobody' });
  });

  it('SE-15 a person who cancels there gets no ordinary visit', async () => {
    await signOut();
    for (const code of ['access_denied', 'login_required', 'access_denied', 'access_denied', 'access_denied']) {
      answerWith({}, error(code));
      const url = await departFor(browser);
      expect(wishesOf(url), code).toEqual(afresh);
      expect((await comeBack(url)).headers.location).toContain('notice=signInCancelled');
    }
  });

  it('after a few visits from which nobody comes back there is a way in, which asks', async () => {
    await signOut();
    for (let n = 0; n < afreshVisits; n += 1) expect(wishesOf(await departFor(browser))).toEqual(afresh);
    const url = await departFor(browser);
    expect(wishesOf(url)).toEqual(asEver);
    expect((await comeBack(url)).headers.location).toMatch(asking);
    expect(await who()).toBeNull();
  });

  it('SE-15 it asks also right after the earlier person’s sign-in there, which the clocks’ tolerance does not make a fresh one', async () => {
    await signOut();
    for (let n = 0; n < afreshVisits; n += 1) await departFor(browser);
    answerWith({ auth_time: Math.floor(portal.deps.now().getTime() / 1000) - 2 });
    expect((await comeBack(await departFor(browser))).headers.location).toMatch(asking);
    expect(await who()).toBeNull();
  });

  it('SE-15 whoever leaves that question unanswered is followed by a fresh sign-in', async () => {
    await signOut();
    answerWith({}, error('invalid_request'));
    await comeBack(await departFor(browser));
    answerWith({});
    await comeBack(await departFor(browser));
    expect(wishesOf(await departFor(browser))).toEqual(afresh);
  });

  it('SE-15 so is whoever leaves the question to an alias, though the connection has signed somebody in since', async () => {
    await signOut();
    answerWith({ auth_time: seconds() });
    await comeBack(await departFor(browser));
    expect(await who()).toBe('alice');
    await portal.sql`delete from session`;
    const byAlias = await departFor(browser, 'alias@acme.test');
    expect(wishesOf(byAlias)).toEqual(asEver);
    expect((await comeBack(byAlias)).headers.location).toMatch(asking);
    expect(wishesOf(await departFor(browser))).toEqual(afresh);
  });

  it('SE-15 a sign-out starts over', async () => {
    await signOut();
    answerWith({}, error('invalid_request'));
    await comeBack(await departFor(browser));
    await signOut();
    expect(wishesOf(await departFor(browser))).toEqual(afresh);
  });

  it('nobody is asked if the ordinary visit shows a sign-in since it began', async () => {
    await signOut();
    answerWith({}, error('invalid_request'));
    await comeBack(await departFor(browser));
    const url = await departFor(browser);
    answerWith({ auth_time: seconds() });
    await comeBack(url);
    expect(await who()).toBe('alice');
  });
});

describe('an answer to a visit that asked for a fresh sign-in', () => {
  it('SE-15 that tells an earlier one asks whose account this is, and records why', async () => {
    await signOut();
    const before = seconds() - (limits.providerClock / 1000 + 1);
    const url = await departFor(browser);
    expect(wishesOf(url)).toEqual(afresh);
    answerWith({ auth_time: before });
    const question = await comeBack(url);
    expect(question.headers.location).toMatch(asking);
    expect(await who()).toBeNull();
    const outcome = `requested from the provider, which reports one at ${new Date(before * 1000).toISOString()}`;
    expect((await asked())[0]?.steps).toContainEqual({ step: 'fresh sign-in', outcome });
  });

  it('that tells one since, by a clock that is allowed to be off, is taken', async () => {
    for (const behind of [0, limits.providerClock / 1000]) {
      await signOut();
      const url = await departFor(browser);
      answerWith({ auth_time: seconds() - behind });
      await comeBack(url);
      expect(await who(), String(behind)).toBe('alice');
    }
  });

  it('SE-15 that tells none asks too: someone may have taken the wish out of the address', async () => {
    await signOut();
    const url = new URL(await departFor(browser));
    for (const name of ['prompt', 'max_age']) url.searchParams.delete(name);
    const question = await comeBack(url.href);
    expect(question.headers.location).toMatch(asking);
    expect(await who()).toBeNull();
    const outcome = 'requested from the provider, which does not say when it was';
    expect((await asked())[0]?.steps).toContainEqual({ step: 'fresh sign-in', outcome });
    await agree(question);
    expect(await who()).toBe('alice');
  });

  it('that tells none is taken from a provider that knows only select_account', async () => {
    const { deps } = portal;
    const { discovery } = deps.providers;
    deps.providers.discovery = async (...all) => {
      return { ...(await discovery(...all)), prompt_values_supported: ['select_account'] };
    };
    try {
      await signOut();
      const url = await departFor(browser);
      expect(wishesOf(url)).toEqual(['select_account', null]);
      await comeBack(url);
      expect(await who()).toBe('alice');
    } finally {
      deps.providers.discovery = discovery;
    }
  });

  it('an earlier one is nothing to ask about if nobody had signed out', async () => {
    const url = await departFor(browser);
    answerWith({ auth_time: seconds() - 7200 });
    await comeBack(url);
    expect(await who()).toBe('alice');
  });
});

it.each([
  ['', undefined],
  [' and would set up an app', '/portal/twoFactorRegistration'],
])(
  'SE-15 a sign-out while the provider’s addresses are looked up ends the visit that was about to begin%s',
  async (_, redirectURL) => {
    await comeBack(await departFor(browser));
    const { deps } = portal;
    const { discovery } = deps.providers;
    deps.providers.discovery = async (...all) => {
      deps.providers.discovery = discovery;
      await signOut();
      return await discovery(...all);
    };
    const form = { username: 'alice@acme.test', ...(redirectURL && { redirectURL }) };
    const pressed = await browser.post('/portal/authenticate/performSsoLogin', form);
    const page = await browser.get(String(pressed.headers.location));
    expect(page.headers.location).toBe('/portal/singleSignOn?notice=signInExpired');
    expect((await browser.get(String(page.headers.location))).body).not.toContain('alice@acme.test');
    expect(wishesOf(await departFor(browser))).toEqual(afresh);
  },
);

describe('with two providers', () => {
  let other: ForgedProvider;
  const comeBackFromOther = async () => {
    const url = await departFor(browser, 'bob@beta.test');
    return await browser.get(pathOf(other.visit(url)));
  };
  beforeAll(async () => {
    other = await startForgedProvider(portal.deps);
    await addCustomer(portal, 'beta');
    await addUser(portal, { username: 'bob', email: 'bob@beta.test', customers: ['beta'] });
    await addOidcConnection(portal, other, { key: 'beta-oidc', customerKey: 'beta', domains: ['beta.test'] });
    other.bend({ claims: (honest) => ({ ...honest, sub: 'bob', email: 'bob@beta.test', email_verified: true }) });
  });
  afterAll(() => other.close());

  it('SE-15 a sign-in at one does not end the wish for a fresh one at the other', async () => {
    await comeBack(await departFor(browser));
    await signOut();
    await comeBackFromOther();
    expect(await who()).toBe('bob');
    expect(wishesOf(await departFor(browser, 'bob@beta.test'))).toEqual(asEver);
    delete browser.cookies['vestibule-session'];
    answerWith({ auth_time: seconds() - 7200 });
    const url = await departFor(browser, 'amy@acme.test');
    expect(wishesOf(url)).toEqual(afresh);
    expect((await comeBack(url)).headers.location).toMatch(asking);
    expect(await who()).toBeNull();
  });

  it('SE-15 once both have signed somebody in neither is asked, until the next sign-out', async () => {
    const wishes = async () => [
      wishesOf(await departFor(browser)),
      wishesOf(await departFor(browser, 'bob@beta.test')),
    ];
    await signOut();
    await comeBack(await departFor(browser));
    delete browser.cookies['vestibule-session'];
    await comeBackFromOther();
    expect(await wishes()).toEqual([asEver, asEver]);
    await signOut();
    expect(await wishes()).toEqual([afresh, afresh]);
  });

  describe('whose response is read only after the sign-out', () => {
    const plan = { redirectURL: '/portal/plan-of-alice' };
    /** Signs in by the first provider, a day after an earlier sign-out, and sends what gives a late response. */
    const late = async (request: TestRequest, between = async () => {}) => {
      await signOut();
      portal.wait(limits.turn);
      delete browser.cookies['vestibule-signed-out'];
      await comeBack(await departFor(browser));
      await between();
      const response = await portal.send({ ...request, cookies: { ...browser.cookies } });
      await signOut();
      keepCookies(browser, response);
      return response;
    };
    const departure = (form = {}) => ({
      method: 'POST' as const,
      url: '/portal/authenticate/performSsoLogin',
      form: { username: 'bob@beta.test', ...form },
    });

    it('SE-15 a departure to the other does not bring back that the first has signed somebody in', async () => {
      await late(departure());
      answerWith({ auth_time: seconds() - 7200 });
      const url = await followLeavePage(browser, await pressButton());
      expect(wishesOf(url)).toEqual(afresh);
      expect((await comeBack(url)).headers.location).toMatch(asking);
      expect(await who()).toBeNull();
    });

    it('SE-15 nor does a sign-in by the first', async () => {
      const request = { url: '' };
      await late(request, async () => {
        const brought = await browser.open(pathOf(provider.visit(await departFor(browser))));
        request.url = String(brought.headers.location);
      });
      expect(await who()).toBeNull();
      expect(wishesOf(await followLeavePage(browser, await pressButton()))).toEqual(afresh);
    });

    it('SE-15 a departure leads on no more, and the destination and the address are forgotten', async () => {
      const left = await late(departure(plan));
      const { headers } = await browser.get(String(left.headers.location));
      expect(headers.location).toBe('/portal/singleSignOn?notice=signInExpired');
      expect((await browser.get(String(headers.location))).body).not.toContain('bob@beta.test');
      expect(Object.keys(browser.cookies).filter((name) => name.includes('-visit-'))).toEqual([]);
    });
  });

  it('SE-15 a sign-in that awaits its code ends no wish; the right code does', async () => {
    await comeBack(await departFor(browser));
    await signOut();
    await portal.sql`update customer set two_factor = 'email'`;
    await comeBackFromOther();
    const half = browser.cookies['vestibule-session'];
    expect(wishesOf(await departFor(browser))).toEqual(afresh);
    expect(wishesOf(await departFor(browser, 'bob@beta.test'))).toEqual(afresh);
    expect(browser.cookies['vestibule-session']).toBe(half);
    await browser.post('/portal/two-factor-authentication/verify', { code: await mailedCode() });
    expect(await who()).toBe('bob');
    expect(wishesOf(await departFor(browser, 'bob@beta.test'))).toEqual(asEver);
    expect(wishesOf(await departFor(browser))).toEqual(afresh);
  });

  it('tries that came to nothing at one are not held against the other', async () => {
    await signOut();
    for (let n = 0; n < afreshVisits; n += 1) await departFor(browser, 'bob@beta.test');
    await agree(await comeBackFromOther());
    expect(await who()).toBe('bob');
    expect(wishesOf(await departFor(browser))).toEqual(afresh);
  });

  it('a cookie that holds anything else counts as a sign-out of a moment ago', async () => {
    await signOut();
    await comeBack(await departFor(browser));
    delete browser.cookies['vestibule-session'];
    const known = browser.cookies['vestibule-afresh'] ?? '';
    expect(wishesOf(await departFor(browser))).toEqual(asEver);
    for (const value of ['', 'x', '0', '77', `${known}A`, known.slice(0, -1), known.slice(1)]) {
      browser.cookies['vestibule-afresh'] = value;
      expect(wishesOf(await departFor(browser)), value).toEqual(afresh);
    }
  });
});
