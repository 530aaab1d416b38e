import type { Connection } from '../database/database.ts';
import { limits } from '../limits.ts';

/**
 * Ends those sessions of a user that were used longest ago, as far as there are too many with the one that was just made. A full
 * session counts against those by the same way in, since a provider ends nothing that it could not have opened; a half one also
 * has to come from the same address, so that somebody elsewhere who knows the password keeps nobody from entering their code.
 */
export async function deleteOldestSessions(
  sql: Connection,
  made: { tokenHash: Buffer; userId: string; connectionId: string | null; stage: 'half' | 'full'; address: string },
): Promise<void> {
  const { tokenHash, userId, connectionId, stage, address } = made;
  const most = stage === 'full' ? limits.sessionsOfUser : limits.halfSessionsOfUser;
  await sql`
    delete from session where id in (
      select id from session
      where user_id = ${userId} and connection_id is not distinct from ${connectionId}::uuid and stage = ${stage}
        and (stage = 'full' or address = ${address}::inet) and token_hash <> ${tokenHash}
      order by last_seen_at desc, created_at desc offset ${most - 1})`;
}
