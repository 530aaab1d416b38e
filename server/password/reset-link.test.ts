import { describe, expect, it } from 'vitest';
import { changeUser } from '#server/accounts/change-user.ts';
import { limits } from '#server/limits.ts';
import { newToken, tokenHash } from '#server/secrets/token.ts';
import { addUser } from '#testing/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  askForLink,
  changedPage,
  changeTo,
  failedPage,
  hiddenHash,
  hiddenUsername,
  linkFor,
  newPassword,
  startAfresh,
  storedHash,
} from '#testing/reset-for-test.ts';
import { browserForTest } from '#testing/sso-for-test.ts';

const second = 1000;
const another = 'Another-Harbour-78';

const portal = portalOfFile({ each: startAfresh });

const open = (token: string, method: 'GET' | 'HEAD' = 'GET') =>
  portal.send({ method, url: `/portal/forgottenChange?hash=${token}` });
const landing = async (token: string, password = newPassword) =>
  (await changeTo(portal, token, password)).headers.location;

describe('a link', () => {
  it('PR-02 works once, not again with the same or another password', async () => {
    const token = await linkFor(portal, 'alice');
    expect(await landing(token)).toBe(changedPage);
    expect(await landing(token)).toBe(failedPage(3));
    expect(await landing(token, another)).toBe(failedPage(3));
    expect((await portal.signIn('alice', newPassword)).headers.location).toBe('/portal/portal.html');
    expect(await portal.sql`select from former_password`).toHaveLength(1);
  });

  it.each([
    [limits.resetLink - second, changedPage],
    [limits.resetLink, failedPage(3)],
    [limits.resetLink + second, failedPage(3)],
  ])('PR-04 is valid for an hour after its email left: %i ms after, %s', async (time, page) => {
    const token = await askForLink(portal, 'alice');
    portal.wait(time);
    expect(await landing(token)).toBe(page);
  });

  it('PR-05 PR-18 the newest alone works, whichever is tried first; nobody else’s ends', async () => {
    const ofBob = await linkFor(portal, 'bob');
    const older = await askForLink(portal, 'alice');
    portal.wait(limits.samePress);
    const newest = await askForLink(portal, 'alice');
    expect(await landing(older)).toBe(failedPage(3));
    expect((await open(older)).headers.location).toBe(failedPage(3));
    expect(await landing(newest, another)).toBe(changedPage);
    expect(await landing(ofBob)).toBe(changedPage);
  });

  it('an unused one outlives a sign-in and a sign-out of the browser that has it open', async () => {
    const token = await linkFor(portal, 'alice');
    const browser = browserForTest(portal);
    await browser.get(`/portal/forgottenChange?hash=${token}`);
    await browser.post('/portal/performlogin', { username: 'bob', password: testPassword });
    await browser.post('/portal/logout', {});
    await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
    const form = { password: newPassword, repeat: newPassword, hash: token };
    expect((await browser.post('/portal/password/change', form)).headers.location).toBe(changedPage);
  });

  it('PR-15 is not consumed by viewing it: HEAD and GET, three times each', async () => {
    const token = await linkFor(portal, 'alice');
    for (let n = 0; n < 3; n += 1) {
      const [head, get] = [await open(token, 'HEAD'), await open(token)];
      expect([head.statusCode, head.body, get.statusCode]).toEqual([200, '', 200]);
      expect([hiddenHash(get), hiddenUsername(get)]).toEqual([token, 'alice']);
    }
    expect(await portal.sql`select from audit_event`).toHaveLength(0);
    expect(await portal.sql`select from throttle`).toHaveLength(0);
    expect(await landing(token)).toBe(changedPage);
  });

  it('leads to a sign-in with the name filled in, as it is used and when it is opened again', async () => {
    const token = await linkFor(portal, 'alice');
    for (const answer of [await changeTo(portal, token, newPassword), await open(token)]) {
      expect(answer.headers.location).toBe(changedPage);
      const cookies = cookiesOf(answer);
      expect(hiddenUsername(await portal.send({ url: '/portal/login', cookies }))).toBe('alice');
    }
  });

  it('that was used says so, one that is over says 3, an unknown one shows the plain form', async () => {
    const [used, over] = [await linkFor(portal, 'alice'), await linkFor(portal, 'bob')];
    await changeTo(portal, used, newPassword);
    portal.wait(limits.resetLink);
    expect([(await open(used)).statusCode, (await open(used)).headers.location]).toEqual([302, changedPage]);
    expect([(await open(over)).statusCode, (await open(over)).headers.location]).toEqual([302, failedPage(3)]);
    const inGerman = await portal.send({ url: `/portal/forgottenChange?hash=${used}&lang=de` });
    expect(inGerman.headers.location).toBe(`${changedPage}?lang=de`);
    for (const hash of [newToken(), used.slice(1), '', 'x'.repeat(4000), `${used.slice(1)}%00`]) {
      const page = await open(hash);
      expect([page.statusCode, hiddenUsername(page)], hash.slice(0, 50)).toEqual([200, '']);
    }
  });

  it('names its account only while it is open; from the cookie as well as from the address', async () => {
    const token = await linkFor(portal, 'alice');
    const cookies = { 'vestibule-reset': token };
    const shown = async () => {
      const page = await portal.send({ url: '/portal/forgottenChange', cookies });
      return [page.statusCode, hiddenHash(page), hiddenUsername(page)];
    };
    expect(await shown()).toEqual([200, token, 'alice']);
    for (const [over, open] of [
      ['used_at = made_at', 'used_at = null'],
      ['ends_at = made_at', `ends_at = made_at + interval '1 hour'`],
    ] as const) {
      await portal.sql.unsafe(`update reset_link set ${over}`);
      expect(await shown(), over).toEqual([200, token, '']);
      await portal.sql.unsafe(`update reset_link set ${open}`);
    }
    await portal.sql`delete from portal_user where username = 'alice'`;
    expect(await shown()).toEqual([200, token, '']);
    expect(hiddenUsername(await portal.send({ url: `/portal/login`, cookies }))).toBe('');
  });

  it('names nobody else: not the name of a failed sign-in in the same browser', async () => {
    const cookies = cookiesOf(await portal.signIn('bob', 'wrong'));
    const page = (hash: string) => portal.send({ url: `/portal/forgottenChange?hash=${hash}`, cookies });
    expect(hiddenUsername(await page('A'.repeat(43)))).toBe('');
    expect(hiddenUsername(await page(await linkFor(portal, 'alice')))).toBe('alice');
  });

  it('PR-23 ends with the email address that it was sent to, and survives any other change', async () => {
    const token = await askForLink(portal, 'alice');
    const change = (what: Parameters<typeof changeUser>[2]) => changeUser(portal.sql, 'alice', what, portal.deps.now());
    await change({ language: 'de' });
    await change({ passwordHash: await storedHash(portal, 'bob') });
    await change({ username: 'alicia', email: 'alice@acme.test' });
    expect(hiddenUsername(await open(token))).toBe('alicia');
    await changeUser(portal.sql, 'alicia', { email: 'other@acme.test' }, portal.deps.now());
    expect((await open(token)).headers.location).toBe(failedPage(3));
    expect(await landing(token)).toBe(failedPage(3));
    expect((await portal.signIn('alicia', testPassword)).headers.location).toBe('/portal/portal.html');
  });

  it('is 256 random bits, stored only as a hash, and creates no session', async () => {
    const tokens = [await linkFor(portal, 'alice'), await linkFor(portal, 'alice')];
    for (const token of tokens) expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    const kept = await portal.sql<{ hash: Buffer }[]>`select token_hash as hash from reset_link`;
    expect(kept.map(({ hash }) => hash.toString('hex')).sort()).toEqual(
      tokens.map((token) => tokenHash(token).toString('hex')).sort(),
    );
    const changed = cookiesOf(await changeTo(portal, tokens[1] as string, newPassword));
    expect(changed).toEqual({ 'vestibule-reset': '', 'vestibule-refusal': expect.any(String) });
    expect(await portal.sql`select from session`).toHaveLength(0);
  });

  it('PR-21 sets the first password of a user without one', async () => {
    await addUser(portal, { username: 'grace', passwordHash: null });
    expect(await landing(await askForLink(portal, 'grace'))).toBe(changedPage);
    expect((await portal.signIn('grace', newPassword)).headers.location).toBe('/portal/portal.html');
    expect(await portal.sql`select from former_password`).toHaveLength(0);
  });
});
