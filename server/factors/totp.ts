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

/** Forgets what a user was to confirm, in every browser. */
export async function deletePendingTotp(sql: Connection, userId: string): Promise<void> {
  await sql`delete from pending_totp where user_id = ${userId}`;
}
