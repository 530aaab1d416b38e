import { randomUUID } from 'node:crypto';
import { onDatabaseOf } from './portal-database.ts';
import type { PortalUnderTest } from './portal-under-test.ts';

/** The id of a passkey in every list of screens. */
export const keptPasskey = '5f0c1f6e-3c0b-4b7e-9a55-0d6f1f2a7c31';

/** Gives a user passkeys that no browser has, for pages that show them: one with a name that is long and has no spaces. */
export async function passkeysAreKept(
  portal: PortalUnderTest,
  username: string,
  id: string = randomUUID(),
): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      insert into passkey (id, user_id, credential_id, public_key, rp_id, counter, backup_eligible, backed_up, aaguid, name,
        made_at, last_used_at)
      select kept.id, u.id, sha256(kept.id::text::bytea), sha256(''), 'localhost', 0, true, true,
        '00000000-0000-0000-0000-000000000000', kept.name, kept.made_at, kept.last_used_at
      from portal_user u, (values
        (${id}::uuid, ${'Betriebsstättenzugangsschlüsselverwaltungsprogramm'}, now() - interval '40 days', now()),
        (gen_random_uuid(), 'Phone', now() - interval '1 day', null)
      ) as kept (id, name, made_at, last_used_at)
      where u.username = ${username}`,
  );
}
