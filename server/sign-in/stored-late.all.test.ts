import { beforeEach, expect, it, vi } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { holdRows, untilWaiting } from '#testing/held-rows.ts';
import { whilePasswordIsVerified } from '#testing/paused-verification.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import { addOidcConnection, browserForTest, departFor, keepCookies, pathOf } from '#testing/sso-for-test.ts';

vi.mock(import('@node-rs/argon2'), async (original) => {
  const { withPausedVerification } = await import('#testing/paused-verification.ts');
  return withPausedVerification(await original());
});

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  for (const username of ['alice', 'bob', 'pat']) await addUser(portal, { username });
  await addOidcConnection(portal, provider, { trustsEmail: true });
});

type Browser = ReturnType<typeof browserForTest>;

/** Before Bob's form is sent: Pat's session ended without the browser's knowledge, or by a sign-out. */
const cookieBefore = {
  dead: async () => void (await portal.sql`delete from session`),
  no: async (browser: Browser) => void (await browser.post('/portal/logout', {})),
};

async function signInByProvider(browser: Browser, username: string): Promise<void> {
  const email = `${username}@acme.test`;
  provider.bend({ claims: (honest) => ({ ...honest, sub: username, email, email_verified: true }) });
  await browser.get(pathOf(provider.visit(await departFor(browser, email))));
  expect(await signedInAs(portal, browser.cookies)).toBe(username);
}

/** Bob's form is sent, and its password checked for so long that all this happens in another tab; reads the answer last. */
async function whileBobWaits(cookie: keyof typeof cookieBefore, another: (browser: Browser) => Promise<void>) {
  const browser = browserForTest(portal);
  await browser.post('/portal/performlogin', { username: 'pat', password: testPassword });
  await cookieBefore[cookie](browser);
  const form = { username: 'bob', password: testPassword };
  const answer = await whilePasswordIsVerified(
    () => portal.send({ method: 'POST', url: '/portal/performlogin', form, cookies: { ...browser.cookies } }),
    async () => {
      portal.wait(3000);
      await another(browser);
      portal.wait(3000);
    },
  );
  const before = await signedInAs(portal, browser.cookies);
  keepCookies(browser, answer);
  return { before, after: await signedInAs(portal, browser.cookies) };
}

it.each(['dead', 'no'] as const)(
  'a sign-out in another tab ends a sign-in that waits, with a %s cookie',
  async (cookie) => {
    const seen = await whileBobWaits(cookie, async (browser) => {
      await signInByProvider(browser, 'bob');
      portal.wait(3000);
      await browser.post('/portal/logout', {});
    });
    expect(seen).toEqual({ before: null, after: null });
  },
);

it.each(['dead', 'no'] as const)(
  'who signs in later stays, though an earlier sign-in is stored after it, with a %s cookie',
  async (cookie) => {
    const seen = await whileBobWaits(cookie, (browser) => signInByProvider(browser, 'alice'));
    expect(seen).toEqual({ before: 'alice', after: 'alice' });
  },
);

/** Bob's form is sent, and waits for the row of its user while all this happens in another tab; reads the answer last. */
async function whileBobIsLocked(cookie: keyof typeof cookieBefore, another: (browser: Browser) => Promise<void>) {
  const browser = browserForTest(portal);
  await browser.post('/portal/performlogin', { username: 'pat', password: testPassword });
  await cookieBefore[cookie](browser);
  const release = await holdRows(portal.sql, (sql) => sql`select from portal_user where username = 'bob' for update`);
  const form = { username: 'bob', password: testPassword };
  const cookies = { ...browser.cookies };
  const late = portal.send({ method: 'POST', url: '/portal/performlogin', form, cookies });
  await untilWaiting(portal.sql, 1);
  portal.wait(3000);
  await another(browser);
  await release();
  const before = await signedInAs(portal, browser.cookies);
  keepCookies(browser, await late);
  return { before, after: await signedInAs(portal, browser.cookies) };
}

it.each(['dead', 'no'] as const)(
  'a sign-out in another tab ends a sign-in that waits for the row of its user, with a %s cookie',
  async (cookie) => {
    const seen = await whileBobIsLocked(cookie, async (browser) => {
      await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
      portal.wait(3000);
      await browser.post('/portal/logout', {});
    });
    expect(seen).toEqual({ before: null, after: null });
    expect(await portal.sql`select from session`).toHaveLength(0);
  },
);

it.each(['dead', 'no'] as const)(
  'who signs in later stays, though an earlier sign-in waits for the row of its user, with a %s cookie',
  async (cookie) => {
    const seen = await whileBobIsLocked(cookie, async (browser) => {
      await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
    });
    expect(seen).toEqual({ before: 'alice', after: 'alice' });
    expect(await portal.sql`select from session`).toHaveLength(1);
  },
);

it('a sign-in that waits for a change of its user is stored after it', async () => {
  const seen = await whileBobIsLocked('no', async () => {});
  expect(seen).toEqual({ before: null, after: 'bob' });
});
