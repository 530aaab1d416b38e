import { afterAll, beforeAll, expect, it } from 'vitest';
import { languages } from '#contract/languages.ts';
import { type DatabaseForTest, databaseForTest } from '#testing/database-for-test.ts';

let database: DatabaseForTest;
beforeAll(async () => {
  database = await databaseForTest();
});
afterAll(() => database.close());

it('schema.sql is what the migrations produce', async () => {
  // After a migration: npx vitest run server/storage/schema.test.ts -u
  await expect(await schemaText()).toMatchFileSnapshot('schema.sql');
});

it('a user may have every language of the pages', async () => {
  for (const language of languages)
    await database.sql`insert into portal_user (username, email, language, created_at)
      values (${language}, ${`${language}@acme.test`}, ${language}, now())`;
});

const head = `-- The whole schema, made from the migrations for people to read. Nothing runs it.
-- After a migration: npx vitest run server/storage/schema.test.ts -u
`;

/** Tables with their columns, constraints and indexes, then functions and triggers, each in alphabetical order. */
async function schemaText(): Promise<string> {
  const { sql } = database;
  const tables = await sql<{ table: string; lines: string[]; indexes: string[] | null }[]>`
    select c.relname as table,
      (select array_agg(line order by place, line) from (
        select a.attnum::int as place, concat_ws(' ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
          case when a.attidentity <> '' then 'generated always as identity' end,
          case when a.attnotnull then 'not null' end, 'default ' || pg_get_expr(d.adbin, d.adrelid)) as line
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        union all
        select 1e6::int, lower(left(pg_get_constraintdef(o.oid), strpos(pg_get_constraintdef(o.oid), '(') - 1))
          || substr(pg_get_constraintdef(o.oid), strpos(pg_get_constraintdef(o.oid), '('))
        from pg_constraint o where o.conrelid = c.oid and o.contype <> 'n') as all_lines) as lines,
      (select array_agg(pg_get_indexdef(i.indexrelid) order by pg_get_indexdef(i.indexrelid)) from pg_index i
        where i.indrelid = c.oid and not exists (select from pg_constraint o where o.conindid = i.indexrelid)) as indexes
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relname`;
  const code = await sql<{ text: string }[]>`
    select pg_get_functiondef(p.oid) as text from pg_proc p
    where p.pronamespace = 'public'::regnamespace order by p.proname`;
  const triggers = await sql<{ text: string }[]>`
    select pg_get_triggerdef(t.oid) as text from pg_trigger t where not t.tgisinternal order by t.tgname`;
  return [
    head,
    ...tables.map(({ table, lines, indexes }) =>
      [`create table ${table} (\n  ${lines.join(',\n  ')}\n)`, ...(indexes ?? [])].map((text) => `${text};\n`).join(''),
    ),
    ...[...code, ...triggers].map(({ text }) => `${text.trimEnd()};\n`),
  ]
    .join('\n')
    .replaceAll('public.', '');
}
