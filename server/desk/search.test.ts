import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { atDesk, getDesk } from '#test/support/desk-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import type { Browser } from '#test/support/two-factor-for-test.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';

const portal = portalOfFile();
let [support, administrator] = [{} as Browser, {} as Browser];
beforeEach(async () => {
  await emptyDatabase(portal);
  for (const key of ['acme', 'other']) await addCustomer(portal, key);
  await addUser(portal, { username: 'sam', role: 'support' });
  await addUser(portal, { username: 'ada', administers: ['acme'] });
  await addUser(portal, { username: 'bjorn', name: 'Björn Łoś' });
  await addUser(portal, { username: 'shared', email: 'secret.mail@home.test', customers: ['acme', 'other'] });
  await addUser(portal, { username: 'foreign', name: 'Björn Foreign', customers: ['other'] });
  [support, administrator] = [await atDesk(portal, 'sam'), await atDesk(portal, 'ada')];
});

const search = async (q: string, cookies = support) => await getDesk(portal, `?q=${encodeURIComponent(q)}`, cookies);

/** The usernames of the people found. */
const people = async (q: string, cookies = support) =>
  [...(await search(q, cookies)).body.matchAll(/<tr role="row"><td.*?<\/td><td[^>]*>(.*?)<\/td>/g)].map(([, name]) =>
    name?.replace(/<\/?mark>/g, ''),
  );

describe('people are found', () => {
  it.each([
    ['the beginning of a name, without accents', 'BJORN', ['bjorn', 'foreign']],
    ['two words in any order, with accents', 'łoś Bjö', ['bjorn']],
    ['the beginning of a username', 'sha', ['shared']],
    ['an email address, and its beginning', 'secret.mail@home.test', ['shared']],
    ['not by a domain that many have', 'home', []],
    ['not by one letter', 'b', []],
    ['not by a part of a word', 'jorn', []],
    ['not by signs', `' & | ! :* \\ %00`, []],
  ])('by %s', async (_, q, expected) => expect(await people(q)).toEqual(expected));

  it('first whoever is called exactly so', async () => {
    await addUser(portal, { username: 'aa.shared', name: 'Shared' });
    expect(await people('shared')).toEqual(['shared', 'aa.shared']);
  });
});

describe.each([true, false])('an administrator, with row-level security: %s,', (isHeld) => {
  const found = async (q: string) => {
    const tables = ['portal_user', 'membership', 'customer', 'audit_event'];
    const hold = (how: string) =>
      portal.sql.unsafe(tables.map((name) => `alter table ${name} ${how} row level security;`).join(''));
    if (!isHeld) await hold('disable');
    const { body } = await search(q, administrator);
    const names = await people(q, administrator);
    if (!isHeld) await hold('enable');
    return { body, names };
  };

  it('finds their own people and customers only', async () => {
    expect((await found('bjo')).names).toEqual(['bjorn']);
    expect((await found('foreign')).names).toEqual([]);
    expect((await found('other')).body).not.toContain('/customers/other');
    expect((await found('shared')).body).not.toContain('other');
  });

  it('learns no email of somebody who has other customers too', async () => {
    for (const q of ['secret', 'sec', 'secret.mail@home.test']) expect((await found(q)).names).toEqual([]);
    await addUser(portal, { username: 'own', email: 'own.mail@home.test' });
    expect((await found('own.mail')).names).toEqual(['own']);
  });

  it('finds the references of their own customers', async () => {
    const event = { event: 'sign-in-refused', reason: 'network', username: 'bjorn' } as const;
    const { now } = portal.by();
    await insertAuditEvent(portal.sql, { ...event, customerKey: 'acme', reference: 'AB0C-1111' }, now);
    await insertAuditEvent(portal.sql, { ...event, customerKey: 'other', reference: 'AB0C-2222' }, now);
    expect((await found('abOc llll')).body).toMatch(/AB0C.1111/);
    expect((await found('AB0C-2222')).body.replaceAll('value="AB0C-2222"', '')).not.toMatch(/class="rows"/);
  });
});

describe('a search', () => {
  it('shows markup as it is', async () => {
    await addUser(portal, { username: 'markup', name: '<b>Markup</b> & more' });
    const { body } = await search('<b>Markup');
    expect(body).toContain('&lt;<mark>b</mark>&gt;<mark>Markup</mark>&lt;/<mark>b</mark>&gt;');
  });

  it('of ten kilobytes is cut, and answered', async () => {
    const answer = await search('ab '.repeat(3500));
    expect(answer.statusCode).toBe(200);
    expect(answer.body.length).toBeLessThan(100_000);
    expect((await search('\0')).statusCode).toBe(200);
  });
});
