import { beforeEach, describe, expect, it } from 'vitest';
import { signOutUser } from '#server/accounts/sign-out-user.ts';
import { limits } from '#server/limits.ts';
import { newToken, tokenHash } from '#server/secrets/token.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { holdRows } from '#testing/held-rows.ts';
import { cookiesOf, portalForTest, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  changedPage,
  changeTo,
  failedPage,
  hiddenHash,
  linkFor,
  newPassword,
  startAfresh,
} from '#testing/reset-for-test.ts';
import { type BrowserForTest, browserForTest } from '#testing/sso-for-test.ts';
import { codeNow, giveApp, verify } from '#testing/two-factor-for-test.ts';

let browser: BrowserForTest;
const portal = portalOfFile();
beforeEach(async () => {
  await startAfresh(portal);
  await emptyTables(portal, 'ended_session', 'signed_out_session');
  browser = browserForTest(portal);
});

const open = (token: string, more = '') => browser.get(`/portal/forgottenChange?hash=${token}${more}`);
const signIn = (username = 'bob', password = testPassword) =>
  browser.post('/portal/performlogin', { username, password });
const signOut = () => browser.post('/portal/logout', {});
const noted = () => Object.keys(browser.cookies).filter((name) => name.startsWith('vestibule-link-'));
const stateOf = async (token: string) =>
  (await portal.sql`select state from reset_link where token_hash = ${tokenHash(token)}`)[0]?.state;

it.each([
  ['an image', 'no-cors', 'image', {}],
  ['a frame', 'navigate', 'iframe', {}],
  ['a call', 'no-cors', 'empty', {}],
  ['a prefetch', 'navigate', 'document', { 'sec-purpose': 'prefetch' }],
  ['a prerendered page', 'navigate', 'document', { 'sec-purpose': 'prefetch;prerender' }],
])('SE-15 %s of another host notes no link, so it drops none that was opened', async (_what, mode, dest, more) => {
  const token = await linkFor(portal, 'alice');
  await open(token);
  const headers = { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': mode, 'sec-fetch-dest': dest, ...more };
  for (let n = 0; n <= limits.linksOfBrowser; n += 1) {
    const url = `/portal/forgottenChange?hash=${await linkFor(portal, 'bob')}`;
    for (const method of ['GET', 'HEAD'] as const) await browser.get(url, { method, headers });
  }
  expect(noted()).toHaveLength(1);
  await signIn();
  expect(await stateOf(token)).toBe('withdrawn');
});

describe('a link that a browser has opened', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a sign-in by somebody else', () => signIn('bob')],
    ['a sign-in by its own person, who remembers the password', () => signIn('alice')],
    ['a sign-out', signOut],
    [
      'a sign-out by a call',
      async () => {
        await signIn('bob');
        browser.cookies['vestibule-session'] = newToken();
        await browser.get('/portal/logout', { headers: { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' } });
      },
    ],
    [
      'a right password that waits for a second factor',
      async () => {
        await portal.sql`update customer set two_factor = 'email'`;
        await signIn('bob');
      },
    ],
  ])('SE-15 opens nothing after %s: the history of the browser still has it', async (_what, happens) => {
    const token = await linkFor(portal, 'alice');
    expect((await open(token)).statusCode).toBe(200);
    await happens();
    expect(await stateOf(token)).toBe('withdrawn');
    expect(noted()).toEqual([]);
    const stranger = browserForTest(portal);
    const again = await stranger.get(`/portal/forgottenChange?hash=${token}`);
    expect(again.headers.location).toBe(failedPage(3));
    expect((await changeTo(portal, token, newPassword)).headers.location).toBe(failedPage(3));
  });

  it('SE-15 opens nothing after a right code, if it was opened while the code was pending', async () => {
    await portal.sql`update customer set two_factor = 'app'`;
    const secret = await giveApp(portal, 'bob');
    await signIn('bob');
    const token = await linkFor(portal, 'alice');
    await open(token);
    expect((await verify(portal, codeNow(portal, secret), browser.cookies)).body).toBe('true');
    expect(await stateOf(token)).toBe('withdrawn');
  });

  it('SE-15 opens nothing after a session that the provider ended was noticed', async () => {
    await signIn('bob');
    const token = await linkFor(portal, 'alice');
    await open(token);
    await signOutUser(portal.sql, 'bob', portal.deps.now());
    await browser.get('/portal/login');
    expect(await stateOf(token)).toBe('withdrawn');
  });

  it('SE-15 nor if its form is the first to notice; its page says so', async () => {
    for (const notice of [
      async (token: string) => await changeTo(portal, token, newPassword, { cookies: browser.cookies }),
      async (token: string) => await open(token),
    ]) {
      await signIn('bob');
      const token = await linkFor(portal, 'alice');
      await open(token);
      await signOutUser(portal.sql, 'bob', portal.deps.now());
      expect((await notice(token)).headers.location).toBe(failedPage(3));
      expect(await stateOf(token)).toBe('withdrawn');
    }
  });

  it('SE-15 nor does any other that it has opened, of whatever account', async () => {
    const tokens = [await linkFor(portal, 'alice'), await linkFor(portal, 'alice'), await linkFor(portal, 'bob')];
    for (const token of tokens) await open(token);
    expect(noted()).toHaveLength(3);
    await signOut();
    for (const token of tokens) expect(await stateOf(token)).toBe('withdrawn');
  });

  it('goes on working over reloads, failed changes and a refused password', async () => {
    const token = await linkFor(portal, 'alice');
    for (const more of ['', '', '&lang=de']) expect((await open(token, more)).statusCode).toBe(200);
    await signIn('bob', 'a slip');
    const entry = { hash: token, password: newPassword };
    expect((await browser.post('/portal/password/change', { ...entry, repeat: 'x' })).headers.location).toBe(
      failedPage(5),
    );
    expect(hiddenHash(await browser.get('/portal/forgottenChange'))).toBe(token);
    expect((await browser.post('/portal/password/change', { ...entry, repeat: newPassword })).headers.location).toBe(
      changedPage,
    );
    // Used, not withdrawn: who comes back to it reads that the password was changed.
    await signIn('alice', newPassword);
    expect((await open(token)).headers.location).toBe(changedPage);
  });

  it('SE-15 is remembered by a failed change too, whose page may never have shown the server its token', async () => {
    const token = await linkFor(portal, 'alice');
    await browser.post('/portal/password/change', { hash: token, password: newPassword, repeat: 'x' });
    expect(noted()).toHaveLength(1);
    await signOut();
    expect(await stateOf(token)).toBe('withdrawn');
  });

  it('CK-01 is remembered as a hash, hidden from scripts, for as long as any link is valid', async () => {
    const token = await linkFor(portal, 'alice');
    const { cookies } = await open(token);
    const hash = tokenHash(token).toString('base64url');
    expect(cookies).toEqual([
      expect.objectContaining({
        name: `vestibule-link-${hash.slice(0, 8)}`,
        value: hash,
        httpOnly: true,
        sameSite: 'Lax',
        maxAge: limits.invitation / 1000,
      }),
    ]);
  });

  it('is remembered only while it is open', async () => {
    const [used, over] = [await linkFor(portal, 'alice'), await linkFor(portal, 'bob')];
    await portal.sql`update reset_link set state = 'used' where token_hash = ${tokenHash(used)}`;
    await portal.sql`update reset_link set ends_at = made_at where token_hash = ${tokenHash(over)}`;
    for (const token of [used, over, newToken(), 'x']) await open(token);
    expect(noted()).toEqual([]);
  });

  it('is one of ten at most; the newest are kept', async () => {
    const tokens = await Promise.all(Array.from({ length: limits.linksOfBrowser + 2 }, () => linkFor(portal, 'alice')));
    for (const token of tokens) await open(token);
    expect(noted()).toHaveLength(limits.linksOfBrowser);
    await signOut();
    const states = await Promise.all(tokens.map(stateOf));
    expect(states).toEqual(['open', 'open', ...tokens.slice(2).map(() => 'withdrawn')]);
  });
});

it('SE-15 nobody withdraws a link without its token: a sign-in leaves those alone that this browser did not open', async () => {
  const token = await linkFor(portal, 'alice');
  const hash = tokenHash(token).toString('base64url');
  await open(newToken());
  // Malformed, under another name, twice.
  for (const cookie of [
    `vestibule-link-${hash.slice(0, 8)}=${token.slice(1)}`,
    `vestibule-links=${hash}`,
    `vestibule-link-${hash.slice(0, 8)}=${hash}; vestibule-link-${hash.slice(0, 8)}=${hash}`,
  ]) {
    const answer = await portal.signIn('bob', testPassword, { headers: { cookie } });
    expect(answer.headers.location).toBe('/portal/portal.html');
    expect(await stateOf(token), cookie).toBe('open');
  }
});

it('SE-15 a link that cannot be withdrawn now is withdrawn at the next sign-in or sign-out', async () => {
  const token = await linkFor(portal, 'alice');
  await open(token);
  await portal.sql`alter table reset_link rename column state to status`;
  try {
    expect((await signIn('bob')).headers.location).toBe('/portal/portal.html');
  } finally {
    await portal.sql`alter table reset_link rename column status to state`;
  }
  expect(portal.logs()).toContain('an opened link could not be withdrawn');
  expect(noted()).toHaveLength(1);
  await signOut();
  expect(await stateOf(token)).toBe('withdrawn');
});

it('SE-15 a link whose page the database delays for too long is remembered all the same', async () => {
  const hurried = await portalForTest({}, portal, { timeouts: { handlerTimeout: 300 } });
  try {
    const token = await linkFor(portal, 'alice');
    const release = await holdRows(portal.sql, (sql) => sql`lock table reset_link in access exclusive mode`);
    const answer = await hurried.send({ url: `/portal/forgottenChange?hash=${token}` });
    await release();
    expect(answer.statusCode).toBe(503);
    await portal.signIn('bob', testPassword, { cookies: cookiesOf(answer) });
    expect(await stateOf(token)).toBe('withdrawn');
  } finally {
    await hurried.close();
  }
});

it('SE-15 of the links that a browser claims to have opened only the newest ten are looked up', async () => {
  const [old, latest] = [await linkFor(portal, 'alice'), await linkFor(portal, 'bob')];
  const cookieOf = (token: string) => {
    const hash = tokenHash(token).toString('base64url');
    return [`vestibule-link-${hash.slice(0, 8)}`, hash] as const;
  };
  const madeUp = Array.from({ length: 200 }, newToken);
  const cookies = Object.fromEntries([old, ...madeUp, latest].map(cookieOf));
  const answer = await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies });
  expect(answer.statusCode).toBe(303);
  expect([await stateOf(old), await stateOf(latest)]).toEqual(['open', 'withdrawn']);
});
