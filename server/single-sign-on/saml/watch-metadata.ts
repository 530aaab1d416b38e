import { insertAuditEvent } from '../../audit/audit-event.ts';
import type { Connection } from '../../database/database.ts';
import type { DepsWithoutWake } from '../../deps.ts';
import { type Conversation, openConversation } from '../../http/provider-fetch.ts';
import { day } from '../../limits.ts';
import { findSsoConnection, type SamlConnection } from '../sso-connection.ts';
import { publishedDifferences } from './provider-metadata.ts';

const samlMetadataReadEvery = day;

/**
 * Reads the metadata of each SAML provider with a metadata address again, once a day over all instances, and reports
 * what is new: by an event, in the log and to `doctor`. Nothing is applied automatically (docs/decisions/0019): anyone
 * able to change that document could sign in as anybody.
 */
export async function watchMetadata(
  deps: DepsWithoutWake,
  converse: (networks: readonly string[]) => Pick<Conversation, 'read'> = openConversation,
): Promise<void> {
  const { sql, now } = deps;
  const before = new Date(now().getTime() - samlMetadataReadEvery);
  // Each of them is taken by one instance only.
  const taken = await sql<{ id: string }[]>`
    update sso_connection s set metadata_read_at = ${now()} from customer c
    where c.id = s.customer_id and s.active and c.active and s.settings->>'metadataUrl' is not null
      and coalesce(s.metadata_read_at, '-infinity') <= ${before}
    returning s.id`;
  for (const { id } of taken) {
    const connection = await findSsoConnection(sql, id);
    if (connection?.protocol === 'saml') await readAgain(deps, connection, converse(connection.providerNetworks));
  }
}

async function readAgain(
  deps: DepsWithoutWake,
  connection: SamlConnection,
  { read }: Pick<Conversation, 'read'>,
): Promise<void> {
  const { id, key, customerKey, settings } = connection;
  const found = await publishedDifferences(settings, read, deps.now());
  // Earlier findings stay valid until there is an answer.
  if (found.kind === 'refused')
    return deps.log.warn(`the metadata of connection ${key} cannot be read again: ${found.problem}`);
  const { differences } = found;
  await deps.sql.begin(async (sql) => {
    const { count } = await sql`
      update sso_connection set metadata_differences = ${differences}::text[]
      where id = ${id} and metadata_differences <> ${differences}::text[]`;
    if (count === 0 || differences.length === 0) return;
    const steps = differences.map((outcome) => ({ step: 'metadata', outcome }));
    const event = { event: 'connection-metadata-changed', connection: key, customerKey, steps } as const;
    await insertAuditEvent(sql, event, deps.now());
    deps.log.warn(warningOf({ connection: key, url: settings.metadataUrl ?? '', differences }));
  });
}

/** What providers have published and nobody has applied yet, with the command that applies it. */
export async function metadataWarnings(sql: Connection): Promise<string[]> {
  const changed = await sql<Changed[]>`
    select s.key as connection, s.settings->>'metadataUrl' as url, s.metadata_differences as differences
    from sso_connection s join customer c on c.id = s.customer_id
    where s.metadata_differences <> '{}' and s.active and c.active and s.settings->>'metadataUrl' is not null
    order by s.key`;
  return changed.map(warningOf);
}

type Changed = { connection: string; url: string; differences: string[] };

function warningOf({ connection, url, differences }: Changed) {
  return `the metadata of connection ${connection} have changed (${differences.join('; ')}) – ask the provider to confirm, then apply them: vestibule connection set ${connection} --metadata ${url}`;
}
