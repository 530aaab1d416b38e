import { beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { atDesk, getDesk } from '#test/support/desk-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';

const portal = portalOfFile();
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'elm');
  await addUser(portal, { username: 'olga', role: 'operator' });
  await addUser(portal, { username: 'ada', administers: ['acme'], customers: ['acme', 'elm'] });
});

it('an operator sees every customer in the list, an administrator their own', async () => {
  const list = async (username: string) =>
    [...(await getDesk(portal, '/customers', await atDesk(portal, username))).body.matchAll(/customers\/(\w+)/g)].map(
      ([, key]) => key,
    );
  expect(await list('olga')).toEqual(['acme', 'elm']);
  expect(await list('ada')).toEqual(['acme']);
});
