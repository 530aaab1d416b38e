import type { Deps } from '../deps/deps.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { deletePortalKey, promotePortalKey } from '../storage/portal-key.ts';
import { addPortalKey } from './portal-keys.ts';

type KeyDeps = Pick<Deps, 'sql' | 'keys' | 'config' | 'now'>;

/** Publishes the next key beside the current one; false if there is already a next one. */
export async function publishNextKey(deps: KeyDeps): Promise<boolean> {
  return await change(deps, 'next key published', (sql) => addPortalKey(deps, sql, 'next'));
}

/** Signs with the next key from now on; false if there is none. */
export async function signWithNextKey(deps: KeyDeps): Promise<boolean> {
  return await change(deps, 'next key in use', promotePortalKey);
}

/** Removes the next or the last key from what is published; false if there is none. */
export async function withdrawKey(deps: KeyDeps, stage: 'next' | 'last'): Promise<boolean> {
  return await change(deps, `${stage} key withdrawn`, (sql) => deletePortalKey(sql, stage));
}

async function change(
  { sql, now }: KeyDeps,
  outcome: string,
  work: (sql: Connection) => Promise<boolean>,
): Promise<boolean> {
  return await sql.begin(async (sql) => {
    const isDone = await work(sql);
    const steps = [{ step: 'key', outcome }];
    if (isDone) await insertAuditEvent(sql, { event: 'portal-key-changed', steps }, now());
    return isDone;
  });
}
