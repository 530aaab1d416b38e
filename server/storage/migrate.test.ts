import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type DatabaseForTest, databaseForTest } from '#testing/database-for-test.ts';
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

/** Runs a statement in a transaction of another connection, which goes on until `letGo`. */
async function holding(statement: string): Promise<{ letGo: () => Promise<void> }> {
  const sql = connect(database.place, { poolSize: 1 });
  await sql.unsafe(`begin; ${statement}`).simple();
  return {
    letGo: async () => {
      await sql`commit`;
      await sql.end();
    },
  };
}

/** Resolves with the process of PostgreSQL that waits for such a lock, once one does. */
async function waiting(mode: string): Promise<number> {
  for (;;) {
    const [row] = await database.sql<{ pid: number }[]>`
      select pid from pg_locks join pg_stat_activity using (pid)
      where datname = current_database() and mode = ${mode} and not granted`;
    if (row) return row.pid;
  }
}

test('runs the files in order, once', async () => {
  expect(await migrate(database.sql, { folder })).toEqual(['0001-fruit.sql', '0002-colour.sql']);
  expect(await migrate(database.sql, { folder })).toEqual([]);
  await writeFile(join(folder, '0003-size.sql'), 'alter table fruit add size int;\n');
  expect(await migrate(database.sql, { folder })).toEqual(['0003-size.sql']);
  expect(await database.sql`select * from fruit`).toEqual([{ name: 'pear', colour: null, size: null }]);
});

test('several instances starting at once run each file once', async () => {
  const others = Array.from({ length: 5 }, () => connect(database.place, { poolSize: 1 }));
  const applied = await Promise.all(others.map((sql) => migrate(sql, { folder })));
  expect(applied.flat().sort()).toEqual(['0001-fruit.sql', '0002-colour.sql']);
  expect(await database.sql`select count(*) from fruit`).toEqual([{ count: 1 }]);
  await Promise.all(others.map((sql) => sql.end()));
});

test('a failing file leaves the database as it was after the file before, and nobody waiting', async () => {
  await writeFile(join(folder, '0003-broken.sql'), 'create table half (id int);\nselect 1 / 0;\n');
  await expect(migrate(database.sql, { folder })).rejects.toThrow('division by zero');
  expect(await database.sql`select to_regclass('half') as half, to_regclass('fruit')::text as fruit`).toEqual([
    { half: null, fruit: 'fruit' },
  ]);
  await writeFile(join(folder, '0003-broken.sql'), 'create table half (id int);\n');
  expect(await migrate(database.sql, { folder })).toEqual(['0003-broken.sql']);
});

test('a file changed after it was run is refused by name', async () => {
  await migrate(database.sql, { folder });
  await writeFile(join(folder, '0002-colour.sql'), 'alter table fruit add colour int;\n');
  await expect(migrate(database.sql, { folder })).rejects.toThrow('The migration 0002-colour.sql was changed');
});

test('a part that changes some rows of many runs again until none is left, each time in a transaction of its own', async () => {
  await migrate(database.sql, { folder });
  await database.sql`insert into fruit select 'fruit ' || n from generate_series(1, 24) n`;
  await writeFile(
    join(folder, '0003-colours.sql'),
    `-- new transaction, again while rows change
update fruit set colour = 'colour ' || txid_current() where name in (select name from fruit where colour is null limit 10);
-- new transaction
alter table fruit alter colour set not null;
`,
  );
  expect(await migrate(database.sql, { folder })).toEqual(['0003-colours.sql']);
  const rows = await database.sql<{ count: number }[]>`select count(*) from fruit group by colour order by count(*)`;
  expect(rows.map(({ count }) => count)).toEqual([5, 10, 10]);
  expect(await migrate(database.sql, { folder })).toEqual([]);
});

test('a change of a table that a backup reads waits for it, and others do not wait behind the change', async () => {
  await migrate(database.sql, { folder });
  await writeFile(join(folder, '0003-size.sql'), 'alter table fruit add size int;\n');
  const backup = await holding('select from fruit');
  const blocked = Promise.withResolvers<string>();
  const migrated = migrate(database.sql, { folder, onBlocked: blocked.resolve });
  expect(await blocked.promise).toBe('0003-size.sql');
  expect(await database.sql`select name from fruit`).toHaveLength(1);
  await backup.letGo();
  expect(await migrated).toEqual(['0003-size.sql']);
});

test('a change of a table that is being vacuumed waits where nobody waits behind it', async () => {
  await migrate(database.sql, { folder });
  await writeFile(join(folder, '0003-size.sql'), 'alter table fruit add size int;\n');
  const vacuum = await holding('lock table fruit in share update exclusive mode');
  const another = await holding('lock table mail, session in share update exclusive mode');
  const migrated = migrate(database.sql, { folder });
  await waiting('ShareUpdateExclusiveLock');
  expect(await database.sql`select name from fruit`).toHaveLength(1);
  await vacuum.letGo();
  expect(await migrated).toEqual(['0003-size.sql']);
  await another.letGo();
});

describe('an index that is built outside a transaction', () => {
  const index = `-- outside a transaction
create index concurrently if not exists fruit_by_name on fruit (name);
-- new transaction
alter table fruit add size int;
`;
  beforeEach(async () => {
    await migrate(database.sql, { folder });
    await writeFile(join(folder, '0003-index.sql'), index);
  });
  const isValid = () =>
    database.sql`select indisvalid as valid from pg_index where indexrelid = to_regclass('fruit_by_name')`;

  test('lets others write meanwhile', async () => {
    const writer = await holding("insert into fruit values ('fig')");
    const migrated = migrate(database.sql, { folder });
    await waiting('ShareLock');
    await database.sql`insert into fruit values ('plum')`;
    await writer.letGo();
    expect(await migrated).toEqual(['0003-index.sql']);
    expect(await isValid()).toEqual([{ valid: true }]);
  });

  test('is built once by several instances, and each waits for it', async () => {
    const writer = await holding("insert into fruit values ('fig')");
    const others = Array.from({ length: 3 }, () => connect(database.place, { poolSize: 1 }));
    const migrated = Promise.all(others.map((sql) => migrate(sql, { folder })));
    await waiting('ShareLock');
    await writer.letGo();
    expect((await migrated).flat()).toEqual(['0003-index.sql']);
    expect(await isValid()).toEqual([{ valid: true }]);
    await Promise.all(others.map((sql) => sql.end()));
  });

  test('replaces one that a killed instance has left unfinished', async () => {
    const writer = await holding("insert into fruit values ('fig')");
    const killed = migrate(database.sql, { folder });
    const pid = await waiting('ShareLock');
    await database.sql`select pg_cancel_backend(${pid})`;
    await expect(killed).rejects.toThrow('canceling statement');
    expect(await isValid()).toEqual([{ valid: false }]);
    await writer.letGo();
    expect(await migrate(database.sql, { folder })).toEqual(['0003-index.sql']);
    expect(await isValid()).toEqual([{ valid: true }]);
  });

  test('is no last part, and nothing but an index', async () => {
    await writeFile(join(folder, '0003-index.sql'), index.slice(0, index.indexOf('-- new')));
    await expect(migrate(database.sql, { folder })).rejects.toThrow('ends with a transaction');
    await writeFile(join(folder, '0003-index.sql'), index.replace(/create index.*/, 'vacuum fruit;'));
    await expect(migrate(database.sql, { folder })).rejects.toThrow('Only "create index concurrently');
  });
});

test('what has run a file of ours before it was rewritten goes on, by the former checksum alone', async () => {
  const fresh = await databaseForTest();
  const set = (checksum: string) =>
    fresh.sql`update migration set checksum = ${checksum} where name = '0040-tokens-for-hubs.sql'`;
  await set('f1ca4fe5a6c6f24960a0d0838a8994f33bfd08e6b6c7edf0481b1c2f3a6a8d11');
  expect(await migrate(fresh.sql)).toEqual([]);
  await set('0'.repeat(64));
  await expect(migrate(fresh.sql)).rejects.toThrow('The migration 0040-tokens-for-hubs.sql was changed');
  await fresh.close();
});

test('different line ends are not a change', async () => {
  await migrate(database.sql, { folder });
  await writeFile(join(folder, '0002-colour.sql'), 'alter table fruit add colour text;\r\n');
  expect(await migrate(database.sql, { folder })).toEqual([]);
});

test('a database newer than this version is refused', async () => {
  await writeFile(join(folder, '0003-size.sql'), 'alter table fruit add size int;\n');
  await migrate(database.sql, { folder });
  await rm(join(folder, '0003-size.sql'));
  await expect(migrate(database.sql, { folder })).rejects.toThrow('newer version of Vestibule (it has 0003-size.sql)');
});

test('our own migrations are already in a test database', async () => {
  const fresh = await databaseForTest();
  expect(await migrate(fresh.sql)).toEqual([]);
  await fresh.close();
});
