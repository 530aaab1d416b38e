import type { Connection } from '../database/database.ts';

/** `current` signs; `next` is published before its use, `last` after it. */
export type PortalKeyStage = 'next' | 'current' | 'last';

export type PortalKeyRow = {
  id: string;
  stage: PortalKeyStage;
  /** PEM. */
  certificate: string;
  /** PKCS #8 in PEM, sealed for `portalKeyPlace`. */
  sealedKey: Buffer;
  madeAt: Date;
  endsAt: Date;
};

/** Binding (additional data) for a sealed key. */
export function portalKeyPlace(id: string): string {
  return `portal-key:${id}`;
}

/** The portal's keys: the current one first, then the next and the last. */
export async function listPortalKeys(sql: Connection): Promise<PortalKeyRow[]> {
  return await sql<PortalKeyRow[]>`
    select id, stage, certificate, sealed_key as "sealedKey", made_at as "madeAt", ends_at as "endsAt" from portal_key
    order by array_position('{current,next,last}'::text[], stage)`;
}

/** Adds a key; false if its stage is taken. */
export async function insertPortalKey(sql: Connection, key: PortalKeyRow): Promise<boolean> {
  const rows = await sql`
    insert into portal_key (id, stage, certificate, sealed_key, made_at, ends_at)
    values (${key.id}, ${key.stage}, ${key.certificate}, ${key.sealedKey}, ${key.madeAt}, ${key.endsAt})
    on conflict (stage) do nothing returning id`;
  return rows.length > 0;
}

/** Promotes the next key to current, and the current one to last; false if there is no next key. */
export async function promotePortalKey(sql: Connection): Promise<boolean> {
  const [next] = await sql`select id from portal_key where stage = 'next' for update`;
  if (!next) return false;
  await sql`delete from portal_key where stage = 'last'`;
  await sql`update portal_key set stage = 'last' where stage = 'current'`;
  await sql`update portal_key set stage = 'current' where stage = 'next'`;
  return true;
}

/** Withdraws a key that does not sign; false if the stage has none. */
export async function deletePortalKey(sql: Connection, stage: 'next' | 'last'): Promise<boolean> {
  return (await sql`delete from portal_key where stage = ${stage} returning id`).length > 0;
}
