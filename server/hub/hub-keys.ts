import { createPrivateKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { seal, unseal } from '../crypto/keys.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { limits, minute, second } from '../limits.ts';

type HubKeyRow = {
  id: string;
  /** The public part of the key, as hubs read it (RFC 7517). */
  jwk: object;
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

async function listHubKeys(sql: Connection, now: Date): Promise<HubKeyRow[]> {
  return await sql<HubKeyRow[]>`
    select id, jwk, sealed_key as "sealedKey", made_at as "madeAt", signs_from as "signsFrom",
      ends_at as "endsAt"
    from hub_key where ends_at is null or ends_at > ${now} order by signs_from, id`;
}

type HubKeyDeps = Pick<Deps, 'sql' | 'keys' | 'now'>;

/** How long one instance remembers the keys. */
export const hubKeysRemembered = second;

/** A published key: `id` is its `kid`. No private key if no VESTIBULE_SECRET opens it. */
type HubKey = HubKeyRow & { privateKey: KeyObject | null };

/** The keys that sign tokens for hubs, made when first needed, and remembered for a second. */
export function hubKeys(deps: HubKeyDeps) {
  let read: { at: number; keys: Promise<HubKey[]> } | null = null;

  function published(): Promise<HubKey[]> {
    const at = deps.now().getTime();
    if (read && at - read.at >= 0 && at - read.at < hubKeysRemembered) return read.keys;
    const keys = readHubKeys(deps);
    read = { at, keys };
    keys.catch(() => {
      if (read?.keys === keys) read = null;
    });
    return keys;
  }

  return {
    /** Every published key, in the order in which they sign. */
    published,
    /** The key that signs now. Throws if it cannot be opened. */
    async signing() {
      const key = signingKey(await published(), deps.now());
      if (!key) throw new Error('there is no key for hubs');
      const { privateKey } = key;
      if (privateKey) return { ...key, privateKey };
      throw new Error('A key for hubs cannot be opened: VESTIBULE_SECRET lacks the secret that sealed it');
    },
  };
}

async function readHubKeys(deps: HubKeyDeps): Promise<HubKey[]> {
  const now = deps.now();
  let rows = await listHubKeys(deps.sql, now);
  if (!signingKey(rows, now)) {
    // Another instance may be faster.
    await changeHubKeys(deps, async (sql, keys) => {
      if (!signingKey(keys, deps.now())) await addHubKey(deps, sql, fromTheStart);
    });
    rows = await listHubKeys(deps.sql, now);
  }
  return rows.map((row) => {
    const pem = unseal(deps.keys.seal, row.sealedKey, hubKeyPlace(row.id));
    return { ...row, privateKey: pem === null ? null : createPrivateKey(pem) };
  });
}

/** The published key that signs at a time; null if there is none. `keys` are in the order in which they sign. */
function signingKey<Key extends Pick<HubKeyRow, 'signsFrom' | 'endsAt'>>(keys: readonly Key[], now: Date): Key | null {
  return keys.findLast(({ signsFrom, endsAt }) => signsFrom <= now && (endsAt === null || endsAt > now)) ?? null;
}

/** From when the only key signs: always, whatever the clocks of other instances say. */
const fromTheStart = new Date(0);

/** Replaces keys that are old: the next one signs once every hub has had time to read it. */
export async function replaceOldHubKey(deps: HubKeyDeps): Promise<void> {
  await changeHubKeys(deps, async (sql, keys) => {
    const now = deps.now();
    const newest = keys.at(-1);
    if (!newest || replacedAt(newest) > now) return;
    const signsFrom = new Date(now.getTime() + limits.hubKeyAhead);
    await addHubKey(deps, sql, signsFrom);
    await recordNewKey(sql, deps, signsFrom, 'published until their last token has ended');
  });
}

/** Withdraws every key, for keys that somebody may have copied: a hub refuses all tokens until it reads the new one. */
export async function withdrawHubKeys(deps: HubKeyDeps & { actor: string }): Promise<void> {
  await changeHubKeys(deps, async (sql) => {
    await sql`delete from hub_key`;
    await addHubKey(deps, sql, fromTheStart);
    await recordNewKey(sql, deps, deps.now(), 'withdrawn at once');
  });
}

async function changeHubKeys(
  { sql, now }: HubKeyDeps,
  change: (sql: Connection, published: HubKeyRow[]) => Promise<void>,
): Promise<void> {
  await sql.begin(async (sql) => {
    await sql`lock table hub_key in share row exclusive mode`;
    await change(sql, await listHubKeys(sql, now()));
  });
}

async function recordNewKey(
  sql: Connection,
  { now, actor }: HubKeyDeps & { actor?: string },
  signsFrom: Date,
  before: string,
): Promise<void> {
  const steps = [
    { step: 'signs from', outcome: signsFrom.toISOString() },
    { step: 'keys before', outcome: before },
  ];
  await insertAuditEvent(sql, { event: 'hub-keys-rolled', steps, ...(actor && { actor }) }, now());
}

function replacedAt({ madeAt }: HubKeyRow): Date {
  return new Date(madeAt.getTime() + limits.hubKeyAge);
}

/** When housekeeping replaces the newest key; null while there is none. */
export async function findHubKeyReplacement(sql: Connection, now: Date): Promise<Date | null> {
  const newest = (await listHubKeys(sql, now)).at(-1);
  return newest ? replacedAt(newest) : null;
}

/** Makes a key and publishes it; those before it are withdrawn once their last token has ended. */
async function addHubKey({ keys, now }: HubKeyDeps, sql: Connection, signsFrom: Date): Promise<void> {
  const id = randomUUID();
  const endsAt = new Date(signsFrom.getTime() + limits.hubKeyAfter);
  await sql`update hub_key set ends_at = ${endsAt} where ends_at is null`;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: id, alg: 'ES256', use: 'sig' };
  const sealedKey = seal(keys.seal, pem, hubKeyPlace(id));
  await sql`
    insert into hub_key (id, jwk, sealed_key, made_at, signs_from)
    values (${id}, ${JSON.stringify(jwk)}, ${sealedKey}, ${now()}, ${signsFrom})`;
}

/** How long a hub may cache the keys, and how long before its first use a new key is published. */
const hubKeysCached = 5 * minute;

/**
 * `GET /.well-known/jwks.json`: the keys that verify hubs' tokens, the next one ahead of its use (RFC 7517 §5). Public, for
 * scripts of any origin too. Empty if no hub gets tokens.
 */
export function hubKeysRoute(deps: Deps) {
  const keys = hubKeys(deps);
  const isUsed = deps.config.hubAudiences.length > 0;
  return async function publishHubKeys(_request: FastifyRequest, reply: FastifyReply) {
    const published = isUsed ? await keys.published() : [];
    return reply
      .header('content-type', 'application/jwk-set+json')
      .header('cache-control', `public, max-age=${hubKeysCached / 1000}`)
      .header('access-control-allow-origin', '*')
      .header('cross-origin-resource-policy', 'cross-origin')
      .send(JSON.stringify({ keys: published.map(({ jwk }) => jwk) }));
  };
}
