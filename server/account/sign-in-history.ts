import type { Connection } from '../database/database.ts';

/** What became of one of a person's sign-ins, or of a code; `reason` as recorded. */
export type PastSignIn = {
  at: Date;
  event: string;
  reason: string | null;
  address: string | null;
  /** The name of the connection; null for a password or passkey. */
  provider: string | null;
  isByPasskey: boolean;
};

const shown = [
  'signed-in',
  'sign-in-refused',
  'sso-refused',
  'passkey-refused',
  'code-refused',
  'code-throttled',
  'second-factor-ended',
];

/** The last sign-ins of a user with their outcome, newest first; only those by a connection if one is given. */
export async function listSignInsOfUser(
  sql: Connection,
  { userId, connectionId, limit }: { userId: string; connectionId: string | null; limit: number },
): Promise<PastSignIn[]> {
  return await sql<PastSignIn[]>`
    select e.at, e.event, e.reason, host(e.address) as address, coalesce(c.name, e.connection) as provider,
      e.event = 'passkey-refused' or e.steps @> '[{"step": "passkey"}]' as "isByPasskey"
    from audit_event e left join sso_connection c on c.key = e.connection
    where e.user_id = ${userId} and e.event = any(${shown}::text[])
      and (${connectionId}::uuid is null or c.id = ${connectionId}::uuid)
    order by e.id desc limit ${limit}`;
}
