import type { Connection } from '../database/database.ts';
import { hasEmailToProve, isEmailConfirmed } from '../people/email-before-app.ts';
import { speaksForLess } from './factor-scope.ts';

/** What a user can prove, and set up, at a sign-in. */
export type FactorsOfUser = {
  hasApp: boolean;
  /** A code by email has reached them before. */
  isEmailConfirmed: boolean;
  /** The same, or one of their customers requires such codes, even while it is disabled. */
  hasEmailToProve: boolean;
  /** A passkey that one of their customers takes for the app that it requires. */
  hasPasskeyForApp: boolean;
  /** False at a provider that speaks for less than the whole account. */
  maySetUp: boolean;
};

/** Of a sign-in by a connection, or by password: null. `rpId`: what usable passkeys are made for. */
export async function findFactorsOfUser(
  sql: Connection,
  userId: string,
  { connectionId, rpId }: { connectionId: string | null; rpId: string | null },
): Promise<FactorsOfUser> {
  const [row] = await sql<[FactorsOfUser]>`
    select exists (select from totp where totp.user_id = s.user_id) as "hasApp",
      ${isEmailConfirmed(sql, sql`s.user_id`)} as "isEmailConfirmed",
      ${hasEmailToProve(sql, sql`s.user_id`)} as "hasEmailToProve",
      not ${speaksForLess(sql, sql`s`)} as "maySetUp",
      s.connection_id is null
        and exists (select from passkey p where p.user_id = s.user_id and p.rp_id = ${rpId}::text)
        and exists (
          select from membership m join customer c on c.id = m.customer_id
          where m.user_id = s.user_id and c.two_factor = 'app' and c.passkeys <> 'off'
        ) as "hasPasskeyForApp"
    from (values (${userId}::uuid, ${connectionId}::uuid)) as s (user_id, connection_id)`;
  return row;
}
