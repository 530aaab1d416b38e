import { generateSecret, generateURI, ScureBase32Plugin, verifySync } from 'otplib';
import type { Connection } from '../database/database.ts';

/** RFC 4226 §4 requires 160 bits. */
const secretBytes = 20;
/** How long a code is shown, in seconds (RFC 6238 §5.2). */
export const period = 30;

/** A new secret for an authenticator app: 160 random bits in base32, 32 letters. */
export function newTotpSecret(): string {
  return generateSecret({ length: secretBytes });
}

/** The time step of a code (RFC 6238): that of `now` or one either side, otherwise null. */
export function totpStep(stored: string, code: string, now: Date): number | null {
  const epoch = Math.floor(now.getTime() / 1000);
  const { secret, algorithm } = readStoredTotpSecret(stored);
  const result = verifySync({ secret, algorithm, token: code, epoch, period, epochTolerance: period });
  return result.valid && 'timeStep' in result ? result.timeStep : null;
}

/** The address that an authenticator app reads from a QR code; separator colons in issuer and account are replaced. */
export function totpUri(secret: string, issuer: string, account: string): string {
  const plain = (text: string) => text.replaceAll(':', ' ');
  return generateURI({ secret, issuer: plain(issuer), label: plain(account) });
}

export type TotpAlgorithm = 'sha1' | 'sha256' | 'sha512';

/** What is sealed for an app: the secret in base32, after its algorithm if that is not SHA-1, as in `sha256:GEZD…`. */
export function storedTotpSecret(secret: Uint8Array, algorithm: TotpAlgorithm): string {
  const text = new ScureBase32Plugin().encode(secret, { padding: false });
  return algorithm === 'sha1' ? text : `${algorithm}:${text}`;
}

/** The parts of a sealed text. */
export function readStoredTotpSecret(text: string): { secret: string; algorithm: TotpAlgorithm } {
  const [, algorithm = 'sha1', secret = text] = /^(sha256|sha512):(.*)$/.exec(text) ?? [];
  return { secret, algorithm: algorithm as TotpAlgorithm };
}

/** The sealed secret of a user's confirmed app, or null. */
export async function findTotp(sql: Connection, userId: string): Promise<Buffer | null> {
  const [row] = await sql<{ secret: Buffer }[]>`select sealed_secret as secret from totp where user_id = ${userId}`;
  return row?.secret ?? null;
}

/** Consumes a time step; false if it or a later one was used already. Steps only go up. */
export async function spendTotpStep(sql: Connection, userId: string, step: number): Promise<boolean> {
  const { count } = await sql`
    update totp set last_step = ${step} where user_id = ${userId} and last_step < ${step}`;
  return count > 0;
}

/** Confirms a user's app; false if there is one already. */
export async function insertTotp(
  sql: Connection,
  totp: { userId: string; sealedSecret: Buffer; lastStep: number; confirmedAt: Date },
): Promise<boolean> {
  const { count } = await sql`
    insert into totp (user_id, sealed_secret, last_step, confirmed_at)
    values (${totp.userId}, ${totp.sealedSecret}, ${totp.lastStep}, ${totp.confirmedAt})
    on conflict (user_id) do nothing`;
  return count > 0;
}

export async function deleteTotp(sql: Connection, userId: string): Promise<boolean> {
  return (await sql`delete from totp where user_id = ${userId}`).count > 0;
}

/** The sealed secret that a user is to confirm in a browser: the one that they were shown there before, else the given one. */
export async function putPendingTotp(
  sql: Connection,
  pending: { userId: string; deviceHash: Buffer; sealedSecret: Buffer; endsAt: Date },
  now: Date,
): Promise<Buffer> {
  const { userId, deviceHash, sealedSecret, endsAt } = pending;
  const [row] = await sql<[{ sealedSecret: Buffer }]>`
    insert into pending_totp as p (user_id, device_hash, sealed_secret, ends_at)
    values (${userId}, ${deviceHash}, ${sealedSecret}, ${endsAt})
    on conflict (user_id, device_hash) do update set ends_at = excluded.ends_at,
      sealed_secret = case when p.ends_at > ${now} then p.sealed_secret else excluded.sealed_secret end
    returning sealed_secret as "sealedSecret"`;
  return row.sealedSecret;
}

export async function findPendingTotp(
  sql: Connection,
  { userId, deviceHash }: { userId: string; deviceHash: Buffer },
  now: Date,
): Promise<Buffer | null> {
  const [row] = await sql<{ secret: Buffer }[]>`
    select sealed_secret as secret from pending_totp
    where user_id = ${userId} and device_hash = ${deviceHash} and ends_at > ${now}`;
  return row?.secret ?? null;
}

/** Forgets what a user was to confirm, in every browser. */
export async function deletePendingTotp(sql: Connection, userId: string): Promise<void> {
  await sql`delete from pending_totp where user_id = ${userId}`;
}
