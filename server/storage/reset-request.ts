import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';
import { rowOrNull } from './row-or-null.ts';
import { attemptAdmitted, findWait } from './throttle.ts';
import type { ThrottleKey } from './throttle-keys.ts';

/** A request for a link, before its name is looked up. */
export type ResetRequest = {
  fold: string;
  language: string;
  address: string;
  requestId: string;
  askedAt: Date;
  /** The page that the requester wanted, as judged; null for the default. */
  destination: string | null;
  /** The customer in whose brand the page was, by key. */
  brand: string | null;
};

/**
 * Counts a request under its keys and keeps it, in one statement that is the same for every name. If a limit is
 * reached, returns until when the sender has to wait; then nothing is kept.
 */
export async function insertResetRequest(
  sql: Connection,
  { fold, language, address, requestId, askedAt, destination, brand }: ResetRequest,
  countUnder: readonly ThrottleKey[],
): Promise<Date | null> {
  const kept = await sql`
    insert into reset_request (fold, language, address, request_id, asked_at, destination, brand)
    select ${fold}, ${language}, ${address}, ${requestId}, ${askedAt}, ${destination}, ${brand}
    where ${attemptAdmitted(sql, countUnder, askedAt)}
    returning id`;
  return kept.length > 0 ? null : await findWait(sql, countUnder, askedAt);
}

/** Takes the oldest unclaimed request, or null. Its transaction decides whether it is done. */
export async function takeResetRequest(sql: Connection) {
  return await rowOrNull(sql<ResetRequest[]>`
    delete from reset_request where id = (
      select id from reset_request order by id limit 1 for update skip locked
    )
    returning fold, language, host(address) as address, request_id as "requestId", asked_at as "askedAt", destination,
      brand`);
}

/** Deletes requests made before a time; returns how many. */
export async function deleteOldResetRequests(sql: Connection, before: Date): Promise<number> {
  return await deleteInParts(sql, 'reset_request', sql`asked_at < ${before}`);
}
