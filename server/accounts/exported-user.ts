import type { Connection } from '../database/database.ts';
import type { UserToInsert } from './imported-user.ts';

/** A user as stored, for an export; former hashes newest first. */
export type StoredUser = Omit<UserToInsert, 'folds'>;

/** The next users by id, at most `most`; all of them in as many calls as it takes. */
export async function listStoredUsers(
  sql: Connection,
  { after, most, customerKey }: { after: string | null; most: number; customerKey: string | null },
): Promise<StoredUser[]> {
  return await sql<StoredUser[]>`
    select u.id, u.username, u.email, u.language, u.active, u.may_change_password as "mayChangePassword",
      u.created_at as "createdAt", u.password_hash as "passwordHash", t.sealed_secret as "sealedTotp",
      array(
        select c.key from membership m join customer c on c.id = m.customer_id where m.user_id = u.id order by c.key
      ) as customers,
      array(
        select f.password_hash from former_password f where f.user_id = u.id order by f.id desc
      ) as "formerPasswordHashes"
    from portal_user u left join totp t on t.user_id = u.id
    where (${after}::uuid is null or u.id > ${after}::uuid)
      and (${customerKey}::text is null or exists (
        select from membership m join customer c on c.id = m.customer_id where m.user_id = u.id and c.key = ${customerKey}))
    order by u.id limit ${most}`;
}
