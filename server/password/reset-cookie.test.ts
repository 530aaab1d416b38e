import { expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { newToken } from '#server/secrets/token.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  changedPage,
  changeTo,
  failedPage,
  hiddenHash,
  hiddenUsername,
  linkFor,
  newPassword,
  startAfresh,
} from '#testing/reset-for-test.ts';

/** A portal as in production, behind https. */
const portal = portalOfFile({ env: { PUBLIC_URL: 'https://portal.example' }, each: startAfresh });

const name = '__Host-vestibule-reset';
const resetCookieOf = ({ headers }: Awaited<ReturnType<typeof changeTo>>) =>
  [headers['set-cookie'] ?? []].flat().filter((header) => header.startsWith(name));
const form = (cookie: string, search = '') =>
  portal.send({ url: `/portal/forgottenChange${search}`, headers: { cookie } });

it('CK-01 the hash of a valid link is kept for ten minutes in this browser, for this host, hidden from scripts', async () => {
  const token = await linkFor(portal, 'alice');
  const attributes = 'Path=/; HttpOnly; SameSite=Lax; Secure';
  const refused = await changeTo(portal, token, newPassword, { repeat: 'x' });
  expect(resetCookieOf(refused)).toEqual([
    `${name}=${token}; ${attributes}; Max-Age=${limits.resetCookieLifetime / 1000}`,
  ]);
  expect(refused.headers.location).not.toContain(token);
  expect(resetCookieOf(await changeTo(portal, token, newPassword))).toEqual([`${name}=; ${attributes}; Max-Age=0`]);
});

it('without JavaScript the failure page leads back to the form, which then works', async () => {
  const token = await linkFor(portal, 'alice');
  const refused = await changeTo(portal, token, newPassword, { repeat: 'x' });
  const cookie = `${name}=${token}`;
  const failure = await portal.send({ url: refused.headers.location as string, headers: { cookie } });
  expect(failure.body).toContain('href="/portal/forgottenChange');
  expect(failure.body).not.toContain(token);
  const page = await form(cookie);
  expect([hiddenHash(page), hiddenUsername(page), page.headers['cache-control']]).toEqual([token, 'alice', 'no-store']);
  expect(page.body.includes('>For the account alice<')).toBe(true);
  expect((await changeTo(portal, hiddenHash(page) ?? '', newPassword)).headers.location).toBe(changedPage);
});

it('the hash of the address wins over the kept one: that link was opened last', async () => {
  const [ofAlice, ofBob] = [await linkFor(portal, 'alice'), await linkFor(portal, 'bob')];
  const page = await form(`${name}=${ofAlice}`, `?hash=${ofBob}`);
  expect([hiddenHash(page), hiddenUsername(page)]).toEqual([ofBob, 'bob']);
  await portal.sql`update reset_link set used_at = made_at`;
  expect((await form(`${name}=${ofAlice}`, `?hash=${ofBob}`)).headers.location).toBe(changedPage);
});

it('CK-04 a cookie that is duplicated, without its prefix, or malformed is ignored', async () => {
  const token = await linkFor(portal, 'alice');
  expect(hiddenHash(await form(`${name}=${token}`))).toBe(token);
  for (const cookie of [
    `${name}=${token}; ${name}=${newToken()}`,
    `${name}=${newToken()}; ${name}=${token}`,
    `vestibule-reset=${token}`,
    `${name}=${token}x`,
    `${name}="${token}"`,
    `${name}=%00`,
    `${name}=`,
  ]) {
    const page = await form(cookie);
    expect([page.statusCode, hiddenHash(page), hiddenUsername(page)], cookie).toEqual([200, '', '']);
  }
});

it('after 2 and 3 it is deleted, even if it was there before', async () => {
  const [used, gone] = [await linkFor(portal, 'alice'), await linkFor(portal, 'bob')];
  await portal.sql`update reset_link set used_at = made_at where user_id = (select id from portal_user where username = 'alice')`;
  await portal.sql`delete from portal_user where username = 'bob'`;
  for (const [token, reason] of [
    [used, 3],
    [gone, 2],
  ] as const) {
    const refused = await changeTo(portal, token, newPassword, { headers: { cookie: `${name}=${token}` } });
    expect(refused.headers.location).toBe(failedPage(reason));
    expect(resetCookieOf(refused)).toEqual([`${name}=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0`]);
  }
});
