import type { PortalForTest } from './portal-for-test.ts';

/** Makes the sessions of a user, half ones too, sessions by a new connection of a customer, proven when they began. */
export async function sessionByConnection({ sql }: PortalForTest, username: string, customer = 'acme'): Promise<void> {
  await sql`
    with made as (
      insert into sso_connection (key, name, customer_id, protocol, settings, created_at)
      select 'idp-' || key, 'Acme Login', id, 'oidc', '{}', now() from customer where key = ${customer}
      on conflict (key) do update set name = excluded.name returning id, customer_id
    )
    update session s set connection_id = made.id, customer_ids = array[made.customer_id], proof = 'provider', proven_at = s.created_at
    from made, portal_user u where u.id = s.user_id and u.username = ${username}`;
}
