import { randomUUID } from 'node:crypto';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { seal, unseal } from '../crypto/sealed.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import {
  deletePortalKey,
  insertPortalKey,
  listPortalKeys,
  type PortalKeyRow,
  type PortalKeyStage,
  portalKeyPlace,
  promotePortalKey,
} from './portal-key.ts';

/** A decrypted key of the portal: both in PEM. */
export type PortalKey = { id: string; stage: PortalKeyStage; certificate: string; privateKey: string };

type KeyDeps = Pick<Deps, 'sql' | 'keys' | 'config' | 'now'>;

/**
 * The keys by which providers know the portal, the signing one first; creates the first if there is none. Throws if no
 * VESTIBULE_SECRET opens one of them.
 */
export async function portalKeys(deps: KeyDeps): Promise<[PortalKey, ...PortalKey[]]> {
  let rows = await listPortalKeys(deps.sql);
  if (rows[0]?.stage !== 'current') {
    await addPortalKey(deps, deps.sql, 'current');
    rows = await listPortalKeys(deps.sql);
  }
  return rows.map((row) => opened(deps, row)) as [PortalKey, ...PortalKey[]];
}

/** Makes a key for a stage; false if there is one, perhaps just made by another instance. */
export async function addPortalKey(deps: KeyDeps, sql: Connection, stage: 'next' | 'current'): Promise<boolean> {
  const id = randomUUID();
  const madeAt = deps.now();
  // Its library takes a while to load, and is needed once in years.
  const { makeCertificate } = await import('./make-certificate.ts');
  const { certificate, privateKey, endsAt } = await makeCertificate(deps.config.publicUrl.hostname, madeAt);
  const sealedKey = seal(deps.keys.seal, privateKey, portalKeyPlace(id));
  return await insertPortalKey(sql, { id, stage, certificate, sealedKey, madeAt, endsAt });
}

function opened({ keys }: KeyDeps, { id, stage, certificate, sealedKey }: PortalKeyRow): PortalKey {
  const privateKey = unseal(keys.seal, sealedKey, portalKeyPlace(id));
  if (privateKey === null)
    throw new Error('A key of the portal cannot be opened: VESTIBULE_SECRET lacks the secret that sealed it');
  return { id, stage, certificate, privateKey };
}

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
