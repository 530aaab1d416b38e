import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { holdRows, untilWaiting } from '#testing/held-rows.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  keepCookies,
  pathOf,
} from '#testing/sso-for-test.ts';

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));

beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  for (const username of ['alice', 'bob', 'frank']) await addUser(portal, { username, email: `${username}@acme.test` });
  await addOidcConnection(portal, provider);
});

const signIn = async (browser: BrowserForTest, username: string) =>
  void (await browser.post('/portal/performlogin', { username, password: testPassword }));

const signOut = async (browser: BrowserForTest) => void (await browser.post('/portal/logout', {}));

/** The provider answers for alice, who signed in there at the beginning of time or just now. */
async function callbackFor(browser: BrowserForTest, { isOld }: { isOld: boolean }): Promise<string> {
  const email = 'alice@acme.test';
  const claims = { sub: email, email, email_verified: true, ...(isOld && { auth_time: 1 }) };
  provider.bend({ claims: (honest) => ({ ...honest, ...claims }) });
  return pathOf(provider.visit(await departFor(browser, email, { redirectURL: '/portal/reports' })));
}

/** The request that ends a visit. */
async function finishOf(browser: BrowserForTest) {
  const { headers } = await browser.open(await callbackFor(browser, { isOld: false }));
  return { url: String(headers.location) };
}

/** The button of the page that asks whose account this is. */
async function buttonOf(browser: BrowserForTest) {
  const { location } = (await browser.get(await callbackFor(browser, { isOld: true }))).headers;
  expect(location).toMatch(/^\/portal\/authenticate\/other-account\?request=/);
  const form = { request: String(location).slice(-36) };
  return { method: 'POST', url: '/portal/authenticate/other-account', form } as const;
}

const before = {
  'a dead cookie': async () => void (await portal.sql`delete from session`),
  'no cookie': signOut,
  'a live cookie': async () => undefined,
};

const meanwhile = {
  'somebody else signed in': { go: async (browser: BrowserForTest) => await signIn(browser, 'bob'), stays: 'bob' },
  'somebody else signed in and out': { go: inAndOut('bob'), stays: null },
  'the same person signed in and out': { go: inAndOut('alice'), stays: null },
};

function inAndOut(username: string) {
  return async (browser: BrowserForTest) => {
    await signIn(browser, username);
    portal.wait(3000);
    await signOut(browser);
  };
}

describe('a sign-in by a provider that is stored late signs in nobody who has left, and ends nobody’s session', () => {
  const cases = Object.entries(before).flatMap(([cookie, prepare]) =>
    Object.entries(meanwhile).flatMap(([what, { go, stays }]) =>
      // With a dead cookie nobody is asked.
      [finishOf, ...(cookie === 'a dead cookie' ? [] : [buttonOf])].map((pressOf) => {
        const by = pressOf === finishOf ? 'the end of a visit' : 'the question’s button';
        return { cookie, what, by, prepare, go, stays, pressOf };
      }),
    ),
  );
  it.each(cases)('$by, with $cookie, where $what since', async ({ prepare, pressOf, go, stays }) => {
    const browser = browserForTest(portal);
    await signIn(browser, 'frank');
    await prepare(browser);
    const press = await pressOf(browser);
    const release = await holdRows(portal.sql, (sql) => sql`select from sso_connection for update`);
    const late = portal.send({ ...press, cookies: { ...browser.cookies } });
    await untilWaiting(portal.sql, 1);
    portal.wait(3000);
    await go(browser);
    await release();
    keepCookies(browser, await late);
    expect(await signedInAs(portal, browser.cookies)).toBe(stays);
    const left = await portal.sql`select u.username from session s join portal_user u on u.id = s.user_id`;
    expect(left.map(({ username }) => username)).toEqual(stays === null ? [] : [stays]);
    expect(JSON.stringify((await late).headers.location)).not.toContain('reports');
  });
});
