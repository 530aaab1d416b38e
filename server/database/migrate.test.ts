import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { connect } from './connect.ts';
import { migrate } from './migrate.ts';

let database: DatabaseForTest;
let folder: string;

beforeEach(async () => {
  database = await databaseForTest();
  await database.sql`drop table migration`;
  folder = await mkdtemp(join(tmpdir(), 'vestibule-migrations-'));
  await writeFile(
    join(folder, '0001-fruit.sql'),
    "create table fruit (name text);\ninsert into fruit values ('pear');\n",
  );
  await writeFile(join(folder, '0002-colour.sql'), 'alter table fruit add colour text;\n');
  await writeFile(join(folder, 'notes.txt'), 'not a migration');
});

afterEach(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

test('runs the files in order, once', async () => {
  expect(await migrate(database.sql, folder)).toEqual(['0001-fruit.sql', '0002-colour.sql']);
  expect(await migrate(database.sql, folder)).toEqual([]);
  await writeFile(join(folder, '0003-size.sql'), 'alter table fruit add size int;\n');
  expect(await migrate(database.sql, folder)).toEqual(['0003-size.sql']);
  expect(await database.sql`select * from fruit`).toEqual([{ name: 'pear', colour: null, size: null }]);
});

test('several instances starting at once run each file once', async () => {
  const others = Array.from({ length: 5 }, () => connect(database.place, { poolSize: 1 }));
  const applied = await Promise.all(others.map((sql) => migrate(sql, folder)));
  expect(applied.flat().sort()).toEqual(['0001-fruit.sql', '0002-colour.sql']);
  expect(await database.sql`select count(*) from fruit`).toEqual([{ count: 1 }]);
  await Promise.all(others.map((sql) => sql.end()));
});

test('a failing file leaves the database as it was', async () => {
  await writeFile(join(folder, '0003-broken.sql'), 'create table half (id int);\nselect 1 / 0;\n');
  await expect(migrate(database.sql, folder)).rejects.toThrow('division by zero');
  expect(await database.sql`select to_regclass('half') as half, to_regclass('fruit') as fruit`).toEqual([
    { half: null, fruit: null },
  ]);
  await writeFile(join(folder, '0003-broken.sql'), 'create table half (id int);\n');
  expect(await migrate(database.sql, folder)).toHaveLength(3);
});

test('a file changed after it was run is refused by name', async () => {
  await migrate(database.sql, folder);
  await writeFile(join(folder, '0002-colour.sql'), 'alter table fruit add colour int;\n');
  await expect(migrate(database.sql, folder)).rejects.toThrow('The migration 0002-colour.sql was changed');
  // Git may check out other line ends.
  await writeFile(join(folder, '0002-colour.sql'), 'alter table fruit add colour text;\r\n');
  expect(await migrate(database.sql, folder)).toEqual([]);
});

test('a database newer than this version is refused', async () => {
  await writeFile(join(folder, '0003-size.sql'), 'alter table fruit add size int;\n');
  await migrate(database.sql, folder);
  await rm(join(folder, '0003-size.sql'));
  await expect(migrate(database.sql, folder)).rejects.toThrow('newer version of Vestibule (it has 0003-size.sql)');
});
