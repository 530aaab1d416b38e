import type { Connection } from './database.ts';

/**
 * Whether a sign-in by password, still without its second factor, is one of a user whose passkey some customer takes for the app
 * that it requires. Who knows the password alone could otherwise set up an app that opens what the passkey guards
 * (docs/decisions/0014). A disabled customer counts, since it may be enabled again.
 */
export async function isPasskeyBeforeApp(
  sql: Connection,
  { sessionId, rpId }: { sessionId: string; rpId: string },
): Promise<boolean> {
  const rows = await sql`
    select from session s
    where s.id = ${sessionId} and s.stage = 'half' and s.connection_id is null
      and exists (select from passkey p where p.user_id = s.user_id and p.rp_id = ${rpId})
      and exists (
        select from membership m join customer c on c.id = m.customer_id
        where m.user_id = s.user_id and c.two_factor = 'app' and c.passkeys <> 'off')`;
  return rows.length > 0;
}
