import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { hashesByOthers, importLines } from '#test/support/import-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { importBatch } from './import-users.ts';
import { readCsv } from './read-records.ts';
import type { SourceRecord } from './source-user.ts';

const portal = portalOfFile();
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'beta');
});

const person = (n: number | string): SourceRecord => ({ username: `u${n}`, email: `u${n}@acme.test` });
const people = (count: number, start = 0) => Array.from({ length: count }, (_, n) => person(start + n));
const users = async () =>
  (await portal.sql<{ username: string }[]>`select username from portal_user order by username`).map(
    ({ username }) => username,
  );
const refusalOf = async (record: SourceRecord) => (await importLines(portal, [record])).refused[0]?.problem;

describe('an import', () => {
  it('takes over every field', async () => {
    const plain = { username: 'Mila', email: 'mila@acme.test', name: 'Mila Żak, Dr.', language: 'pl', active: false };
    const createdAt = '2020-02-03T04:05:06.789Z';
    const groups = ['beta:CN=Staff, OU=All', 'acme:hr', ' acme:Finance:EU '];
    const record = { ...plain, customers: ['beta', 'acme'], groups, mayChangePassword: false, createdAt };
    expect(await importLines(portal, [record])).toMatchObject({ added: 1, refused: [] });
    const [row] = await portal.sql`
      select username, email, name, language, active, may_change_password, created_at, password_hash,
        (select jsonb_object_agg(key, groups) from membership m join customer c on c.id = m.customer_id where m.user_id = u.id) as customers
      from portal_user u`;
    expect(row).toEqual({
      ...{ ...plain, may_change_password: false, created_at: new Date(createdAt), password_hash: null },
      customers: { acme: ['Finance:EU', 'hr'], beta: ['CN=Staff, OU=All'] },
    });
    expect(await portal.sql`select event, username from audit_event`).toEqual([
      { event: 'user-imported', username: 'Mila' },
    ]);
  });

  it('names a wrong line by number, field and reason, and takes the others over', async () => {
    const outcome = await importLines(portal, [
      person(1),
      '{"username": ',
      '',
      '[]',
      { username: 'x'.repeat(2000), email: 'x@acme.test' },
      { username: 'nobody' },
      { ...person(8), customers: ['gone'] },
      { ...person(9), passwort: 'x' },
      { ...person(10), createdAt: 'yesterday' },
      { ...person(10), createdAt: '2024-02-30T00:00:00Z' },
      { ...person(10), createdAt: 1_711_850_000 },
      { ...person(11), createdAt: '2999-01-01' },
      { ...person(12), active: 'perhaps' },
      { ...person(13), language: 'tlh' },
      { ...person(14), username: 'two words' },
      { ...person(14), name: 'two\nlines' },
      { ...person(14), groups: ['finance'] },
      { ...person(14), groups: 'acme:staff;beta:staff' },
      { ...person(15), email: 'no address' },
      { ...person(16), username: 'U1' },
      { ...person(17), totpSecret: 'JBSWY3DPEHPK3PXP' },
      { ...person(18), emailVerified: false },
      person(19),
    ]);
    const fields = outcome.refused.map(({ line, problem }) => `${line} ${problem.split(':')[0]}`);
    expect(fields.join(', ')).toBe(
      '2 is not valid JSON, 4 is not a JSON object, 5 username, 6 email, 7 customers, 8 has the unknown field, ' +
        '9 createdAt, 10 createdAt, 11 createdAt, 12 createdAt, 13 active, 14 language, 15 username, 16 name, 17 groups, ' +
        '18 groups, 19 email, 20 username, 21 totp, 22 email',
    );
    expect(outcome).toMatchObject({ added: 2, unchanged: 0 });
    expect(await users()).toEqual(['u1', 'u19']);
  });

  it('run again counts the same users as unchanged, even after they signed in, and refuses other values', async () => {
    const passwordHash = hashesByOthers['bcrypt 2b by passlib'];
    const lines = [...people(3), { ...person(3), passwordHash, totpSecret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' }];
    expect(await importLines(portal, lines)).toMatchObject({ added: 4, unchanged: 0 });
    await portal.sql`update portal_user set password_hash = '$argon2id$v=19$m=19456,t=2,p=1$x$y', name = 'Una' where username = 'u3'`;
    await portal.sql`update membership set groups = '{hr}'`;
    expect(await importLines(portal, lines)).toMatchObject({ added: 0, unchanged: 4, refused: [] });
    expect(await refusalOf({ ...person(1), email: 'other@acme.test' })).toMatch(/^username: /);
    expect(await refusalOf({ ...person('new'), email: 'u1@acme.test' })).toMatch(/^email: /);
    expect(await refusalOf({ ...person(1), customers: ['beta'], active: false })).toBe(
      'customers: the user is there already, with other values: customers, active',
    );
    expect(await refusalOf({ ...person(1), name: 'Una', groups: ['acme:it'] })).toMatch(/other values: name, groups$/);
    // What is there without a password, or an app, would lose the one in the line.
    expect(await refusalOf({ ...person(1), passwordHash })).toMatch(/^passwordHash: /);
    expect(await refusalOf({ ...person(1), totpSecret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' })).toMatch(/^totp: /);
    expect(await portal.sql`select from audit_event where event = 'user-imported'`).toHaveLength(4);
  });

  it('meets users who are there and earlier lines of the same file, in a dry run too, which stores nothing', async () => {
    await addUser(portal, { username: 'olga' });
    const lines = [
      ...people(importBatch + 1),
      person(0),
      { ...person('other'), email: 'u1@acme.test' },
      { username: 'OLGA', email: 'new@acme.test' },
      { ...person('x'), customers: ['gone'] },
    ];
    const dry = await importLines(portal, lines, { dryRun: true });
    expect(await users()).toEqual(['olga']);
    expect(await portal.sql`select from audit_event`).toHaveLength(0);
    expect(dry).toMatchObject({ added: importBatch + 1, unchanged: 1 });
    expect(dry.refused).toHaveLength(3);
    expect(await importLines(portal, lines)).toEqual(dry);
    expect(await users()).toHaveLength(importBatch + 2);
  });

  it('keeps out whom Keycloak keeps out', async () => {
    const user = { email: 'mila@acme.test', enabled: false, attributes: { locale: ['tlh'] } };
    await importLines(portal, [user], { from: 'keycloak' });
    expect(await portal.sql`select active, language from portal_user`).toEqual([{ active: false, language: null }]);
  });

  it('no line whatever ends it otherwise than with a refusal', async () => {
    const sources = ['vestibule', 'keycloak'] as const;
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(...Object.values(hashesByOthers), 'mila@acme.test', '$2b$', 'a\u0000b', '\ud800', '1e999'),
    );
    const value = fc.oneof({ depthSize: 'small' }, text, fc.jsonValue(), fc.double(), fc.bigInt().map(String));
    const names = [
      'username email language customers active createdAt passwordHash totpSecret',
      'totpAlgorithm totpDigits password salt credentials secretData credentialData value algorithm __proto__ totp',
      'attributes type hashIterations additionalParameters toString valueOf toJSON constructor parallelism memory enabled',
    ].flatMap((words) => words.split(' '));
    const record = fc.dictionary(
      fc.constantFrom(...names),
      fc.oneof(value, fc.dictionary(fc.constantFrom(...names), value)),
    );
    const line = fc.oneof(
      record.map((entry) => JSON.stringify(entry)),
      fc.string({ unit: 'binary' }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 20 }), fc.constantFrom(...sources), async (lines, from) => {
        const { added, unchanged, refused } = await importLines(portal, lines, { from, acceptsUnverified: true });
        expect(added + unchanged + refused.length).toBeGreaterThanOrEqual(0);
      }),
    );
    const cells = fc.constantFrom(
      ...'",;\t\n\r =\ufeff',
      'sep=;\n',
      'email',
      'Customer',
      'refused',
      'a@b.test',
      'NULL',
    );
    const csv = fc.array(cells, { maxLength: 30 }).map((parts) => parts.join(''));
    fc.assert(fc.property(csv, (text) => void [...readCsv(text).entries]));
  });
});
