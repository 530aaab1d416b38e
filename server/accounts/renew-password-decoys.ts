import { decoyLike } from '../secrets/foreign-hash.ts';
import type { Database } from '../storage/database.ts';
import { hasPasswordDecoys, listImportedHashKinds, replacePasswordDecoys } from '../storage/password-decoy.ts';

/**
 * Makes unknown names cost as much as those of users, whose imported hashes take other times than ours
 * (docs/decisions/0041): each kind of hash gets the share of names that it has among users.
 */
export async function renewPasswordDecoys(sql: Database): Promise<void> {
  const { kinds, withPassword } = await listImportedHashKinds(sql);
  if (kinds.length === 0 && !(await hasPasswordDecoys(sql))) return;
  let users = 0;
  const decoys = kinds.flatMap((kind) => {
    const decoy = decoyLike(kind.sample);
    if (!decoy) return [];
    users += kind.users;
    return [{ decoy, untilShare: users / withPassword }];
  });
  await sql.begin((sql) => replacePasswordDecoys(sql, decoys));
}
