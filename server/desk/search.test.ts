import { beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { atDesk, getDesk } from '#test/support/desk-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import type { Browser } from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile();
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'sam', role: 'support' });
  await addUser(portal, { username: 'ada', administers: ['acme'] });
  await addUser(portal, { username: 'b.weiss', name: 'Björn Weiß' });
});

const search = async (cookies: Browser, q: string) =>
  (await getDesk(portal, `?q=${encodeURIComponent(q)}`, cookies)).body;

it.each(['sam', 'ada'])('a person is found by %s', async (username) => {
  const cookies = await atDesk(portal, username);
  expect(await search(cookies, 'bjorn')).toContain('Weiß');
  expect(await search(cookies, 'Bjö wei')).toContain('b.<mark>wei</mark>ss');
});
