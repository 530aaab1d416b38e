import type { Connection } from './database.ts';

/** A sealed value that no key can open, since its bytes are not what was sealed; kept, as nothing else stands for it. */
export type UnreadableSecret = { what: 'app' | 'portal key'; whose: string };

/** What the migration 0007 could neither mend nor remove: the app of a user, a key by its stage. */
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
