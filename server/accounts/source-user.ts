import type { Reading } from '../names/read-name.ts';
import type { SourceRecord } from './read-value.ts';

/**
 * A user as another system exports it, under our names: values are unread, apart from the password hash, in the form in
 * which it is stored, and the secret of an authenticator app, in base32 or as bytes. Absent means that the source does
 * not say.
 */
export type SourceUser = {
  username?: unknown;
  email?: unknown;
  /** False is refused unless the operator accepts it. */
  emailVerified?: unknown;
  language?: unknown;
  customers?: unknown;
  active?: unknown;
  mayChangePassword?: unknown;
  createdAt?: unknown;
  passwordHash?: Reading<string | null>;
  /** Hashes of earlier passwords, newest first. */
  formerPasswordHashes?: Reading<string[]>;
  totp?: TotpOfSource | null;
};

/** An authenticator app; absent parameters are the usual ones: SHA-1, six digits, 30 seconds. */
export type TotpOfSource = { secret: unknown; algorithm?: unknown; digits?: unknown; period?: unknown };

/** Reads one record of an export, or says why it cannot be taken over. */
export type ReadSource = (record: SourceRecord) => Reading<SourceUser>;
