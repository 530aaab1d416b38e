import type { Connection } from '../database/database.ts';

/** Takes the connections whose metadata were not read since `before`, each for one caller only. Returns their ids. */
export async function takeUnreadMetadata(sql: Connection, before: Date, now: Date): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    update sso_connection s set metadata_read_at = ${now} from customer c
    where c.id = s.customer_id and s.active and c.active and s.settings->>'metadataUrl' is not null
      and coalesce(s.metadata_read_at, '-infinity') <= ${before}
    returning s.id`;
  return rows.map(({ id }) => id);
}

/** Stores the differences; true if there are any and they changed. */
export async function updateMetadataDifferences(sql: Connection, id: string, differences: string[]): Promise<boolean> {
  const { count } = await sql`
    update sso_connection set metadata_differences = ${differences}::text[]
    where id = ${id} and metadata_differences <> ${differences}::text[]`;
  return count > 0 && differences.length > 0;
}

/** Forgets the differences after the connection changed: its metadata are read again soon. */
export async function forgetMetadataReading(sql: Connection, id: string): Promise<void> {
  await sql`update sso_connection set metadata_read_at = null, metadata_differences = '{}' where id = ${id}`;
}

/** The current differences, by connection key. */
export async function listMetadataDifferences(
  sql: Connection,
): Promise<{ connection: string; url: string; differences: string[] }[]> {
  return await sql<{ connection: string; url: string; differences: string[] }[]>`
    select s.key as connection, s.settings->>'metadataUrl' as url, s.metadata_differences as differences
    from sso_connection s join customer c on c.id = s.customer_id
    where s.metadata_differences <> '{}' and s.active and c.active and s.settings->>'metadataUrl' is not null
    order by s.key`;
}
