import type { AuditStep } from '../audit/audit-events.ts';
import { foldLoginName } from '../names/fold-name.ts';
import { noteAllSessionsEnded } from '../storage/all-sessions-ended.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection, Database } from '../storage/database.ts';
import { RollBack } from '../storage/database.ts';
import { deleteSessionsOfUser } from '../storage/end-sessions.ts';
import { lockCustomersOfUser } from '../storage/membership.ts';
import { lockUsersById, moveDevices, moveMemberships, moveSubjects, type UserToMerge } from '../storage/merge-users.ts';
import { deletePasskeysOfUser } from '../storage/passkey.ts';
import { deleteUser, findUser } from '../storage/portal-user.ts';
import { withdrawResetLinks } from '../storage/reset-link.ts';

export type MergeResult =
  | { kind: 'notFound'; name: string }
  | { kind: 'sameUser' }
  /** The operator has not agreed yet; these steps would follow. */
  | { kind: 'notAgreed'; into: string; steps: AuditStep[] }
  | { kind: 'merged'; into: string; steps: AuditStep[] };

/**
 * Merges a duplicate into the user who stays, all or nothing: its customers, subjects at providers and known browsers
 * move, its sessions end, and it is removed with its password, passkeys, app, remembered devices and names, which are free
 * again. Remembered devices do not move: they spare the code of another factor; nor do passkeys, which name another user.
 */
export async function mergeUsers(
  sql: Database,
  { from: fromName, into: intoName, isAgreed }: { from: string; into: string; isAgreed: boolean },
  now: Date,
): Promise<MergeResult> {
  return await sql.begin(async (sql): Promise<MergeResult | RollBack<MergeResult>> => {
    const users = await findBoth(sql, fromName, intoName);
    if ('kind' in users) return users;
    const { from, into } = users;
    const steps = await moveEverything(sql, from, into, now);
    if (!isAgreed) return new RollBack({ kind: 'notAgreed', into: into.username, steps } as const);
    await deleteUser(sql, from.id);
    await insertAuditEvent(sql, { event: 'user-merged', userId: into.id, username: into.username, steps }, now);
    const merged = [{ step: 'merged into', outcome: into.username }];
    const removed = { event: 'user-removed', userId: from.id, username: from.username, steps: merged } as const;
    await insertAuditEvent(sql, removed, now);
    return { kind: 'merged', into: into.username, steps };
  });
}

async function findBoth(
  sql: Connection,
  fromName: string,
  intoName: string,
): Promise<{ from: UserToMerge; into: UserToMerge } | Extract<MergeResult, { kind: 'notFound' | 'sameUser' }>> {
  const ids: string[] = [];
  for (const name of [fromName, intoName]) {
    const user = await findUser(sql, foldLoginName(name));
    if (!user) return { kind: 'notFound', name };
    ids.push(user.id);
  }
  if (ids[0] === ids[1]) return { kind: 'sameUser' };
  const locked = await lockUsersById(sql, ids);
  const [from, into] = ids.map((id) => locked.find((user) => user.id === id));
  if (!from) return { kind: 'notFound', name: fromName };
  if (!into) return { kind: 'notFound', name: intoName };
  return { from, into };
}

async function moveEverything(sql: Connection, from: UserToMerge, into: UserToMerge, now: Date): Promise<AuditStep[]> {
  for (const { id } of [from, into]) await lockCustomersOfUser(sql, id, []);
  const customers = await moveMemberships(sql, from.id, into.id);
  const { moved, left } = await moveSubjects(sql, from.id, into.id);
  await withdrawResetLinks(sql, from.id);
  const passkeys = await deletePasskeysOfUser(sql, from.id);
  const sessionsEnded = await deleteSessionsOfUser(sql, from.id, now);
  // What a provider says of the duplicate means who stays by now.
  await noteAllSessionsEnded(sql, { userId: into.id }, now);
  const devices = await moveDevices(sql, from.id, into.id);
  return [
    { step: 'merged from', outcome: `${from.username}, ${from.email}${from.active ? '' : ', inactive'}` },
    { step: 'customers added', outcome: customers.join(', ') || 'none' },
    { step: 'connections linked', outcome: moved.join(', ') || 'none' },
    ...(left.length > 0 ? [{ step: 'links dropped, as there is one already', outcome: left.join(', ') }] : []),
    { step: 'known browsers added', outcome: String(devices) },
    ...(passkeys > 0 ? [{ step: 'passkeys dropped', outcome: String(passkeys) }] : []),
    { step: 'sessions ended', outcome: String(sessionsEnded) },
  ];
}
