import type { Connection } from './database.ts';

/**
 * Claims the connections whose metadata was not read since `before`: each is returned to only one caller. Returns their
 * ids.
 */
export async function takeUnreadMetadata(sql: Connection, before: Date, now: Date): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    insert into saml_metadata_reading as r (connection_id, read_at)
    select s.id, ${now} from sso_connection s join customer c on c.id = s.customer_id
    where s.protocol = 'saml' and s.active and c.active and s.settings->>'metadataUrl' is not null
    on conflict (connection_id) do update set read_at = excluded.read_at where r.read_at <= ${before}
    returning connection_id as id`;
  return rows.map(({ id }) => id);
}

/** Stores the differences; true if there are any and they changed. */
export async function updateMetadataDifferences(sql: Connection, id: string, differences: string[]): Promise<boolean> {
  const rows = await sql`
    update saml_metadata_reading set differences = ${differences}::text[]
    where connection_id = ${id} and differences <> ${differences}::text[] returning connection_id`;
  return rows.length > 0 && differences.length > 0;
}

/** Forgets the differences after the connection changed: it is read again soon. */
export async function deleteMetadataReading(sql: Connection, id: string): Promise<void> {
  await sql`delete from saml_metadata_reading where connection_id = ${id}`;
}

/** The current differences, by connection key. */
export async function listMetadataDifferences(
  sql: Connection,
): Promise<{ connection: string; url: string; differences: string[] }[]> {
  return await sql<{ connection: string; url: string; differences: string[] }[]>`
    select s.key as connection, s.settings->>'metadataUrl' as url, r.differences
    from saml_metadata_reading r join sso_connection s on s.id = r.connection_id join customer c on c.id = s.customer_id
    where r.differences <> '{}' and s.active and c.active and s.settings->>'metadataUrl' is not null order by s.key`;
}
