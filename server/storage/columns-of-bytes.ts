import type { Connection } from './database.ts';

/** A sealed value that no key can open because its bytes were corrupted; kept, as nothing else can replace it. */
export type UnreadableSecret = { what: 'app' | 'portal key'; whose: string };

/** What migration 0007 could neither repair nor remove: a user's app, or a key, by its stage. */
export async function listUnreadableSecrets(sql: Connection): Promise<UnreadableSecret[]> {
  return [
    ...(await sql<UnreadableSecret[]>`
      select 'app' as what, u.username as whose from totp t join portal_user u on u.id = t.user_id
      where not is_sealed(t.sealed_secret)
      union all
      select 'portal key', stage from portal_key where not is_sealed(sealed_key)
      order by 1, 2`),
  ];
}
