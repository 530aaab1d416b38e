import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { hashesByOthers, importLines } from '#test/support/import-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { importBatch } from './import-users.ts';
import { importLineBytes } from './read-records.ts';
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
const refusalOf = async (record: SourceRecord) => (await importLines(portal, [record])).lines[0];

describe('an import', () => {
  it('takes over every field', async () => {
    const plain = { username: 'Mila', email: 'mila@acme.test', name: 'Mila Żak, Dr.', language: 'pl', active: false };
    const createdAt = '2020-02-03T04:05:06.789Z';
    const groups = ['beta:CN=Staff, OU=All', 'acme:hr', ' acme:Finance:EU '];
    const record = { ...plain, customers: ['beta', 'acme'], groups, mayChangePassword: false, createdAt };
    expect(await importLines(portal, [record])).toMatchObject({ added: 1, refused: 0 });
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
      Buffer.from([0x7b, 0xff, 0x7d]),
      { username: 'x'.repeat(importLineBytes) },
      { username: 'nobody' },
      { ...person(8), customers: ['gone'] },
      { ...person(9), passwort: 'x' },
      { ...person(10), createdAt: 'yesterday' },
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
    expect(outcome.lines.map(({ line, field }) => `${line} ${field}`).join(', ')).toBe(
      '2 line, 4 line, 5 line, 6 line, 7 email, 8 customers, 9 line, 10 createdAt, 11 createdAt, 12 active, ' +
        '13 language, 14 username, 15 name, 16 groups, 17 groups, 18 email, 19 username, 20 totp, 21 email',
    );
    for (const { reason } of outcome.lines) expect(reason).toMatch(/^.{5,}[^.]$/);
    expect(outcome).toMatchObject({ added: 2, unchanged: 0, refused: 19 });
    expect(await users()).toEqual(['u1', 'u19']);
  });

  it('run again counts the same users as unchanged, even after they signed in, and refuses other values', async () => {
    const passwordHash = hashesByOthers['bcrypt 2b by passlib'];
    const lines = [...people(3), { ...person(3), passwordHash, totpSecret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' }];
    expect(await importLines(portal, lines)).toMatchObject({ added: 4, unchanged: 0 });
    await portal.sql`update portal_user set password_hash = '$argon2id$v=19$m=19456,t=2,p=1$x$y', name = 'Una' where username = 'u3'`;
    await portal.sql`update membership set groups = '{hr}'`;
    expect(await importLines(portal, lines)).toMatchObject({ added: 0, unchanged: 4, refused: 0 });
    expect(await refusalOf({ ...person(1), email: 'other@acme.test' })).toMatchObject({ field: 'username' });
    expect(await refusalOf({ ...person('new'), email: 'u1@acme.test' })).toMatchObject({ field: 'email' });
    expect(await refusalOf({ ...person(1), customers: ['beta'], active: false })).toEqual({
      line: 1,
      field: 'customers',
      reason: 'the user is there already, with other values: customers, active',
    });
    expect(await refusalOf({ ...person(1), name: 'Una', groups: ['acme:it'] })).toMatchObject({
      reason: expect.stringMatching(/other values: name, groups$/),
    });
    // What is there without a password, or an app, would lose the one in the line.
    expect(await refusalOf({ ...person(1), passwordHash })).toMatchObject({ field: 'passwordHash' });
    expect(await refusalOf({ ...person(1), totpSecret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' })).toMatchObject({
      field: 'totp',
    });
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
    expect(dry).toMatchObject({ added: importBatch + 1, unchanged: 1, refused: 3 });
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
      'username email language customers active createdAt passwordHash formerPasswordHashes totpSecret',
      'totpAlgorithm totpDigits password salt credentials secretData credentialData value algorithm __proto__ totp',
      'attributes type hashIterations additionalParameters toString valueOf toJSON constructor parallelism memory enabled',
    ].flatMap((words) => words.split(' '));
    const record = fc.dictionary(
      fc.constantFrom(...names),
      fc.oneof(value, fc.dictionary(fc.constantFrom(...names), value)),
    );
    const line = fc.oneof(
      record.map((entry) => Buffer.from(JSON.stringify(entry))),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 20 }), fc.constantFrom(...sources), async (lines, from) => {
        const rules = { customers: ['acme'], acceptsUnverified: true };
        const { added, unchanged, refused } = await importLines(portal, lines, { from, rules });
        expect(added + unchanged + refused).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
