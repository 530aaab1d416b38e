import { limits } from '../limits.ts';
import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';
import { rowOrNull } from './row-or-null.ts';
import type { Fragment } from './sso-domain.ts';
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
};

/**
 * Counts a request under its keys and keeps it, in one statement that is the same for every name. If a limit is
 * reached, returns until when the sender has to wait; then nothing is kept. Only if everybody's is, another statement looks
 * whether the browser is known for the name, which then need not wait, as at the sign-in.
 */
export async function insertResetRequest(
  sql: Connection,
  request: ResetRequest,
  { own, total }: { own: readonly ThrottleKey[]; total: ThrottleKey },
  deviceHash: Buffer | null,
): Promise<Date | null> {
  const { fold, askedAt } = request;
  const [row] = await sql<{ own: boolean; kept: boolean }[]>`
    with own as materialized (select ${attemptAdmitted(sql, own, askedAt)} as admitted),
    everybody as materialized (
      select case when admitted then ${attemptAdmitted(sql, [total], askedAt)} else false end as admitted from own
    ),
    kept as (${insertion(sql, request, sql`from everybody where admitted`)} returning id)
    select own.admitted as own, exists (select from kept) as kept from own`;
  if (row?.kept) return null;
  if (!row?.own || !deviceHash) return await findWait(sql, [...own, total], askedAt);
  const isKnown = isNameOfDevice(sql, { deviceHash, fold, now: askedAt });
  const { count } = await insertion(sql, request, sql`where ${isKnown}`);
  return count > 0 ? null : await findWait(sql, [...own, total], askedAt);
}

function insertion(
  sql: Connection,
  { fold, language, address, requestId, askedAt, destination }: ResetRequest,
  where: Fragment,
): Fragment {
  return sql`
    insert into reset_request (fold, language, address, request_id, asked_at, destination)
    select ${fold}, ${language}, ${address}, ${requestId}, ${askedAt}, ${destination} ${where}`;
}

/**
 * A condition: a user who signed in by password in this browser before has this name. Found by the browser, not by the name, of
 * which the time would tell whether a user has it.
 */
function isNameOfDevice(
  sql: Connection,
  { deviceHash, fold, now }: { deviceHash: Buffer; fold: string; now: Date },
): Fragment {
  const since = new Date(now.getTime() - limits.deviceLifetime);
  return sql`(
    select coalesce(bool_or(n.fold = ${fold}), false) from device d join login_name n on n.user_id = d.user_id
    where d.token_hash = ${deviceHash} and d.by_password and d.last_used_at > ${since})`;
}

/** Takes the oldest unclaimed request, or null. Its transaction decides whether it is done. */
export async function takeResetRequest(sql: Connection) {
  return await rowOrNull(sql<ResetRequest[]>`
    delete from reset_request where id = (
      select id from reset_request order by id limit 1 for update skip locked
    )
    returning fold, language, host(address) as address, request_id as "requestId", asked_at as "askedAt", destination`);
}

/** Deletes requests made before a time; returns how many. */
export async function deleteOldResetRequests(sql: Connection, before: Date): Promise<number> {
  return await deleteInParts(sql, 'reset_request', sql`asked_at < ${before}`);
}
