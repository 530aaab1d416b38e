import type { HubAlgorithm } from '../config/hub.ts';
import type { Connection } from '../database/database.ts';
import { deleteInParts } from '../database/large-tables.ts';

/** The public part of a key, as hubs read it (RFC 7517). */
export type PublicHubKey = {
  kid: string;
  kty: string;
  crv: string;
  x: string;
  y?: string;
  alg: HubAlgorithm;
  use: 'sig';
};

export type HubKeyRow = {
  id: string;
  algorithm: HubAlgorithm;
  jwk: PublicHubKey;
  /** PKCS #8 in PEM, sealed for `hubKeyPlace`. */
  sealedKey: Buffer;
  madeAt: Date;
  signsFrom: Date;
  /** Published until then; null while no newer key is there. */
  endsAt: Date | null;
};

/** Binding (additional data) for a sealed key. */
export function hubKeyPlace(id: string): string {
  return `hub-key:${id}`;
}

/** Every published key, in the order in which they sign. */
export async function listHubKeys(sql: Connection, now: Date): Promise<HubKeyRow[]> {
  return await sql<HubKeyRow[]>`
    select id, algorithm, jwk, sealed_key as "sealedKey", made_at as "madeAt", signs_from as "signsFrom",
      ends_at as "endsAt"
    from hub_key where ends_at is null or ends_at > ${now} order by signs_from, id`;
}

/** Lets one transaction at a time make and replace keys; others still read them. */
export async function lockHubKeys(sql: Connection): Promise<void> {
  await sql`lock table hub_key in share row exclusive mode`;
}

export async function insertHubKey(sql: Connection, key: Omit<HubKeyRow, 'endsAt'>): Promise<void> {
  await sql`
    insert into hub_key (id, algorithm, jwk, sealed_key, made_at, signs_from)
    values (${key.id}, ${key.algorithm}, ${JSON.stringify(key.jwk)}, ${key.sealedKey}, ${key.madeAt}, ${key.signsFrom})`;
}

/** Withdraws an algorithm's keys at a time. */
export async function updateHubKeysEnd(sql: Connection, algorithm: HubAlgorithm, endsAt: Date): Promise<void> {
  await sql`update hub_key set ends_at = ${endsAt} where algorithm = ${algorithm} and ends_at is null`;
}

/** Withdraws every key at once; returns how many. */
export async function deleteHubKeys(sql: Connection): Promise<number> {
  return (await sql`delete from hub_key`).count;
}

/** Deletes keys that are no longer published; returns how many. */
export async function deleteOldHubKeys(sql: Connection, now: Date): Promise<number> {
  return await deleteInParts(sql, 'hub_key', sql`ends_at <= ${now}`);
}
