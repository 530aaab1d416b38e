import { KeyObject, randomUUID } from 'node:crypto';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { seal, unseal } from '../crypto/keys.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { day } from '../limits.ts';

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
  const { certificate, privateKey, endsAt } = await makeCertificate(deps.config.publicUrl.hostname, madeAt);
  const sealedKey = seal(deps.keys.seal, privateKey, portalKeyPlace(id));
  const rows = await sql`
    insert into portal_key (id, stage, certificate, sealed_key, made_at, ends_at)
    values (${id}, ${stage}, ${certificate}, ${sealedKey}, ${madeAt}, ${endsAt})
    on conflict (stage) do nothing returning id`;
  return rows.length > 0;
}

function opened({ keys }: KeyDeps, { id, stage, certificate, sealedKey }: PortalKeyRow): PortalKey {
  const privateKey = unseal(keys.seal, sealedKey, portalKeyPlace(id));
  if (privateKey === null)
    throw new Error('A key of the portal cannot be opened: VESTIBULE_SECRET lacks the secret that sealed it');
  return { id, stage, certificate, privateKey };
}

const acts = {
  add: 'next key published',
  use: 'next key in use',
  next: 'next key withdrawn',
  last: 'last key withdrawn',
} as const;

/** Publishes the next key, signs with it from now on, or withdraws one; false if it is there already, or is not there. */
export async function changePortalKeys(deps: KeyDeps & { actor: string }, act: keyof typeof acts): Promise<boolean> {
  return await deps.sql.begin(async (sql) => {
    const isDone =
      act === 'add'
        ? await addPortalKey(deps, sql, 'next')
        : act === 'use'
          ? await promotePortalKey(sql)
          : (await sql`delete from portal_key where stage = ${act}`).count > 0;
    const steps = [{ step: 'key', outcome: acts[act] }];
    if (isDone) await insertAuditEvent(sql, { event: 'portal-key-changed', steps, actor: deps.actor }, deps.now());
    return isDone;
  });
}

/** `current` signs; `next` is published before its use, `last` after it. */
type PortalKeyStage = 'next' | 'current' | 'last';

export type PortalKeyRow = {
  id: string;
  stage: PortalKeyStage;
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

/** Promotes the next key to current, and the current one to last; false if there is no next key. */
export async function promotePortalKey(sql: Connection): Promise<boolean> {
  const [next] = await sql`select id from portal_key where stage = 'next' for update`;
  if (!next) return false;
  await sql`delete from portal_key where stage = 'last'`;
  await sql`update portal_key set stage = 'last' where stage = 'current'`;
  await sql`update portal_key set stage = 'current' where stage = 'next'`;
  return true;
}

const lifetime = 3 * 365 * day;

/**
 * Makes a 3072-bit RSA key with a self-signed certificate. Providers compare it only with the one in our metadata, so
 * its name is for people.
 */
export async function makeCertificate(
  name: string,
  now: Date,
): Promise<{ certificate: string; privateKey: string; endsAt: Date }> {
  // Loaded only now, as it takes a while and is needed once in years. It requires `reflect-metadata` at load time.
  await import('reflect-metadata');
  const { X509CertificateGenerator } = await import('@peculiar/x509');
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 3072 };
  const publicExponent = new Uint8Array([1, 0, 1]);
  const keys = await crypto.subtle.generateKey({ ...algorithm, publicExponent }, true, ['sign', 'verify']);
  const endsAt = new Date(now.getTime() + lifetime);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    notBefore: now,
    notAfter: endsAt,
    signingAlgorithm: algorithm,
    keys,
  });
  const privateKey = String(KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }));
  return { certificate: certificate.toString('pem'), privateKey, endsAt };
}
