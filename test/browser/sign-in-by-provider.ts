import { onDatabaseOf } from './portal-database.ts';
import type { PortalUnderTest } from './portal-under-test.ts';

/** Makes a user's last sign-in come from a provider, which speaks for only part of the account. */
export async function signInWasByProvider(portal: PortalUnderTest, username: string): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      with made as (
        insert into sso_connection (key, name, customer_id, protocol, settings, created_at)
        select 'elsewhere', 'Elsewhere', id, 'oidc', '{}', now() from customer where key = 'mails'
        on conflict (key) do update set name = excluded.name returning id
      )
      update session set connection_id = (select id from made), proof = 'provider', proven_at = now()
      where user_id = (select id from portal_user where username = ${username})`,
  );
}

/** Gives a user another user's password, or none. */
export async function passwordIsThatOf(portal: PortalUnderTest, username: string, other: string | null): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      update portal_user set password_hash = (select password_hash from portal_user where username = ${other})
      where username = ${username}`,
  );
}
