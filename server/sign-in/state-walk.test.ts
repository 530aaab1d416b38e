import type { Response } from 'light-my-request';
import { generateSync } from 'otplib';
import { expect, it, vi } from 'vitest';
import { limits } from '#server/limits.ts';
import { startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, type PortalForTest, type TestRequest, testPassword } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { addOidcConnection, browserForTest, departFor, keepCookies, pathOf } from '#test/support/sso-for-test.ts';

// Many sign-ins: hashing takes no time here.
vi.mock('@node-rs/argon2', async (original) => ({
  ...(await original<typeof import('@node-rs/argon2')>()),
  verify: async (_hash: string, password: string) => password === testPassword,
}));

// The pending sign-in is a small state machine. In every state every event is answered by a page that
// has a next step and keeps the requested page. One test per state walks all its events.

/** The page that everyone in this test requests. */
const asked = '/portal/portal.html?report=7';
const verifyUrl = '/portal/two-factor-authentication/verify';

type Cookies = Record<string, string>;
/** A browser in one state: its cookies, and the right code where one is expected. */
type Visitor = {
  portal: PortalForTest;
  cookies: Cookies;
  /** Who has signed in, as the pages of a second factor say it. */
  account?: string;
  rightCode?: () => Promise<string>;
  /** Where the identity provider redirects to. */
  callback?: URL;
};

const portal = portalOfFile();
const another = otherInstanceOfFile(portal);
const provider = sharedByFile(() => startForgedProvider(portal.deps));

async function beginAgain(): Promise<void> {
  await emptyDatabase(portal);
  portal.mails.length = 0;
  for (const [key, twoFactor] of [
    ['plain', 'off'],
    ['apps', 'app'],
    ['mails', 'email'],
  ] as const) {
    await addCustomer(portal, key, { twoFactor });
    await addUser(portal, { username: key, customers: [key] });
  }
  await addOidcConnection(portal, provider, { customerKey: 'plain' });
  provider.bend({ claims: (honest) => ({ ...honest, email: 'plain@acme.test' }) });
}

/** Sends a request with the browser's cookies and stores those of the answer. */
async function ask(visitor: Visitor, request: TestRequest): Promise<Response> {
  const answer = await visitor.portal.send({ ...request, cookies: visitor.cookies });
  keepCookies(visitor, answer);
  return answer;
}

/** Follows redirects as a browser does; throws on a loop. */
async function arrive(visitor: Visitor, request: TestRequest): Promise<{ url: string; page: Response }> {
  let [url, page] = [request.url, await ask(visitor, request)];
  for (let hops = 0; page.headers.location !== undefined; hops += 1) {
    if (hops === 6) throw new Error(`a loop at ${url}`);
    url = String(page.headers.location);
    page = await ask(visitor, { url });
  }
  return { url, page };
}

const signInForm = (username: string): TestRequest => ({
  method: 'POST',
  url: '/portal/performlogin',
  form: { username, password: testPassword, redirectURL: asked },
});

async function signedInAs(username: string): Promise<Visitor> {
  const visitor: Visitor = { portal, cookies: {}, account: username };
  await ask(visitor, signInForm(username));
  return visitor;
}

async function totpOf(visitor: Visitor): Promise<() => Promise<string>> {
  const answer = await ask(visitor, { url: '/portal/two-factor-authentication/registration' });
  const { totpSecret } = answer.json() as { totpSecret: string };
  return async () => generateSync({ secret: totpSecret, epoch: portal.deps.now().getTime() / 1000 });
}

async function mailedCode(): Promise<string> {
  await portal.workOff();
  return portal.mails.findLast(({ text }) => /#\d{6}$/.test(text))?.text.slice(-6) ?? '';
}

/** Posts a code as the form does, with the query and the account of its screen. */
function codeForm({ account = '' }: Pick<Visitor, 'account'>, code: string): TestRequest {
  return { method: 'POST', url: verifyUrl, form: { code, redirectURL: asked, account } };
}

const states: Record<string, () => Promise<Visitor>> = {
  nobody: async () => ({ portal, cookies: {} }),
  'must register an app': async () => {
    const visitor = await signedInAs('apps');
    return { ...visitor, rightCode: await totpOf(visitor) };
  },
  'app asked': async () => {
    const first = await signedInAs('apps');
    const rightCode = await totpOf(first);
    await ask(first, codeForm(first, await rightCode()));
    portal.wait(60_000);
    return { ...(await signedInAs('apps')), rightCode };
  },
  'code sent': async () => {
    const first = await signedInAs('mails');
    await ask(first, codeForm(first, await mailedCode()));
    portal.wait(60_000);
    return { ...(await signedInAs('mails')), rightCode: mailedCode };
  },
  'signed in': () => signedInAs('plain'),
  'session over': async () => {
    const visitor = await signedInAs('plain');
    await portal.sql`update session set last_seen_at = '2000-01-01'`;
    return visitor;
  },
  'at an identity provider': async () => {
    const browser = browserForTest(portal);
    const callback = provider.visit(await departFor(browser, 'plain@acme.test', { redirectURL: asked }));
    return { portal, cookies: browser.cookies, callback };
  },
};

const screen = (path: string): TestRequest => ({
  url: `/portal${path}?${new URLSearchParams({ redirectURL: asked, destination: asked })}`,
});

/** Possible events; each returns the page that the person then sees. */
const events: Record<string, (visitor: Visitor) => Promise<{ url: string; page: Response }>> = {
  'opens the form': (visitor) => arrive(visitor, screen('/login')),
  'asks for the hub page': (visitor) => arrive(visitor, { url: asked }),
  'opens the code screen': (visitor) => arrive(visitor, screen('/twoFactor')),
  'opens the registration': (visitor) => arrive(visitor, screen('/twoFactorRegistration')),
  reloads: async (visitor) => {
    const first = await arrive(visitor, { url: asked });
    const second = await arrive(visitor, { url: first.url });
    expect(second.url).toBe(first.url);
    return second;
  },
  'changes the language': async (visitor) => {
    const { url } = await arrive(visitor, { url: asked });
    return await arrive(visitor, { url: `${url}${url.includes('?') ? '&' : '?'}lang=de` });
  },
  'goes on at another instance': (visitor) => arrive({ ...visitor, portal: another }, { url: asked }),
  'sends a code too late': async (visitor) => {
    portal.wait(limits.halfSession + 1000);
    return await arrive(visitor, codeForm(visitor, '123456'));
  },
  'lost the cookie': (visitor) => arrive({ ...visitor, cookies: {} }, { url: asked }),
  'sends a wrong code': (visitor) => arrive(visitor, codeForm(visitor, '000000')),
  'sends wrong codes until none is taken': async (visitor) => {
    for (let count = 0; count < limits.codeTries; count += 1) await arrive(visitor, codeForm(visitor, `00000${count}`));
    return await arrive(visitor, codeForm(visitor, '000009'));
  },
  'sends a right code twice at once': async (visitor) => {
    const code = await (visitor.rightCode?.() ?? '123456');
    const second = { ...visitor, cookies: { ...visitor.cookies } };
    const [one, other] = await Promise.all([
      ask(visitor, codeForm(visitor, code)),
      ask(second, codeForm(second, code)),
    ]);
    // Whichever answer the browser keeps, it holds the one session.
    const tokens = [one, other].map((answer) => cookiesOf(answer)['vestibule-session']);
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0] !== undefined).toBe(visitor.rightCode !== undefined);
    return await arrive(second, { url: asked });
  },
  'goes back after a right code': async (visitor) => {
    await ask(visitor, codeForm(visitor, await (visitor.rightCode?.() ?? '123456')));
    return await arrive(visitor, screen('/twoFactor'));
  },
  'asks for another code': (visitor) =>
    arrive(visitor, {
      method: 'POST',
      url: '/portal/two-factor-authentication/send',
      form: { redirectURL: asked, codeSentViaEmail: 'true', account: visitor.account ?? '' },
    }),
  cancels: (visitor) =>
    arrive(visitor, {
      url: `/portal/logout?${new URLSearchParams({ destination: asked })}`,
      headers: { 'sec-fetch-site': 'same-origin' },
    }),
  'signs in again in a second tab': (visitor) => arrive(visitor, signInForm('plain')),
  'forgot the password': (visitor) =>
    arrive(visitor, { method: 'POST', url: '/portal/password/forgotten', form: { username: 'plain@acme.test' } }),
  'comes back from a provider': (visitor) => arrive(visitor, answerOf(visitor)),
  'comes back from a provider twice at once': async (visitor) => {
    const second = { ...visitor, cookies: { ...visitor.cookies } };
    // A visit is used once, by whichever comes first.
    const [one] = await Promise.all([arrive(visitor, answerOf(visitor)), arrive(second, answerOf(visitor))]);
    const tokens = [visitor, second].flatMap(({ cookies }) => cookies['vestibule-session'] ?? []);
    if (visitor.callback) expect(tokens).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
    return one;
  },
  'comes back from a provider too late': async (visitor) => {
    portal.wait(limits.visit);
    return await arrive(visitor, answerOf(visitor));
  },
  'cancels at a provider': async (visitor) => {
    const answer = answerOf(visitor);
    return await arrive(visitor, { url: answer.url.replace(/code=[^&]*/, 'error=access_denied') });
  },
  'comes back from a provider without the cookies': (visitor) => arrive({ ...visitor, cookies: {} }, answerOf(visitor)),
  'goes to a provider': async (visitor) => {
    const form = { username: 'plain@acme.test', redirectURL: asked };
    const left = await arrive(visitor, { method: 'POST', url: '/portal/authenticate/performSsoLogin', form });
    expect(left.page.body).toContain(provider.issuer);
    return left;
  },
};

/** The provider's answer; an unexpected one if the visitor was not sent to it. */
function answerOf({ callback }: Visitor): TestRequest {
  const stray = new URL(`http://localhost/portal/authenticate/oidc/callback/acme-oidc?code=x&state=${'x'.repeat(43)}`);
  return { url: pathOf(callback ?? stray) };
}

/** Events after which the requested page is unknown, never existed, or is kept where no page shows it. */
const withoutPlace = new Set([
  'forgot the password',
  'goes to a provider',
  'comes back from a provider without the cookies',
]);
/** States in which the browser holds a cookie that knows who typed their name here. */
const isNameTyped = /^(?!nobody|signed in|session over|at an identity provider)/;
/** Events after which nothing knows it, or another person may be next. */
const withoutName = new Set(['lost the cookie', 'cancels']);

/** Texts that mean nothing to a person who was not at a provider. */
const ofProvider = /(?:from|at) a provider/;

it.each(Object.keys(states))(
  '%s: every event leads to a page with a next step, the requested page kept',
  async (state) => {
    const deadEnds: string[] = [];
    for (const event of Object.keys(events)) {
      await beginAgain();
      try {
        await walk(state, event);
      } catch (error) {
        deadEnds.push(`${event}: ${error}`);
      }
    }
    expect(deadEnds).toEqual([]);
    expect(portal.logs() + another.logs()).not.toContain('unexpected error');
  },
);

async function walk(state: string, event: string): Promise<void> {
  const visitor = (await states[state]?.()) as Visitor;
  const arrived = await events[event]?.(visitor);
  const { url, page } = arrived as { url: string; page: Response };
  expect(page.statusCode).toBe(200);
  expect(page.headers['content-type']).toContain('text/html');
  expect(page.body, 'a next step').toMatch(/<form|class="button/);
  const isStray = ofProvider.test(event) && !visitor.callback;
  if (!withoutPlace.has(event) && !isStray) expect(url + page.body, url).toMatch(/report(?:=|%3D|%253D)7/);
  const name = /<input id="username"[^>]* value="([^"]+)"/.exec(page.body)?.[1];
  const isKnown = isNameTyped.test(state) && !withoutName.has(event) && /^\/portal\/(?:login)?(?:$|\?)/.test(url);
  if (isKnown) expect(name, 'the typed name').toMatch(/^(?:plain|apps|mails)$/);
}
