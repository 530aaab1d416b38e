import type { Reading } from '../names/read-name.ts';
import type { NewUser, User } from '../people/portal-user.ts';

type Plain = Omit<NewUser, 'passwordHash'> & Pick<User, 'name' | 'customers' | 'groups' | 'createdAt'>;

/** A user to add, checked; `totp` is the secret as it is sealed. */
export type ImportedUser = Plain & { passwordHash: string | null; totp: string | null };

/**
 * A user as another system exports it, under our names: values are unread, apart from the password hash, in the form in
 * which it is stored, and the secret of an authenticator app, in base32 or as bytes. Absent means that the source does
 * not say; a false `emailVerified` is refused unless the operator accepts it.
 */
export type SourceUser = Partial<Record<keyof Plain | 'emailVerified', unknown>> & {
  passwordHash?: Reading<string | null>;
  totp?: TotpOfSource | null;
};

/** An authenticator app; absent parameters are the usual ones: SHA-1, six digits, 30 seconds. */
export type TotpOfSource = { secret: unknown; algorithm?: unknown; digits?: unknown; period?: unknown };

/** A record of an export: anything that JSON or CSV can say. */
export type SourceRecord = Record<string, unknown>;

/** A refused value; the problem begins with the field, as in names/read-name.ts. */
export function refusedValue(field: string, reason: string): Extract<Reading<never>, { kind: 'refused' }> {
  return { kind: 'refused', problem: `${field}: ${reason}` };
}

/** The values of all readings by their names, or the first refusal. */
export function readAll<Values extends object>(
  readings: { [Name in keyof Values]: Reading<Values[Name]> },
): Reading<Values> {
  const values: Record<string, unknown> = {};
  for (const [name, reading] of Object.entries<Reading<unknown>>(readings)) {
    if (reading.kind === 'refused') return reading;
    values[name] = reading.value;
  }
  return { kind: 'ok', value: values as Values };
}

export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** Whether a value is an object with names. */
export function isRecord(value: unknown): value is SourceRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text, number or flag as text; empty for anything else: an object may have a `toString` that is none. */
export function textOf(value: unknown): string {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '';
}

/** A number, or a text that is one; NaN for anything else. */
export function numberOf(value: unknown): number {
  const text = textOf(value);
  return text === '' ? Number.NaN : Number(text);
}

// As spreadsheets write them in German, Spanish, Polish, Dutch and Italian, too.
const yes = ['true', '1', 'yes', 't', 'wahr', 'verdadero', 'prawda', 'waar', 'vero'];
const no = ['false', '0', 'no', 'f', 'falsch', 'falso', 'fałsz', 'onwaar'];

/** A flag as JSON, CSV or a database writes it (`t` by psql); `otherwise` if the source does not say. */
export function readFlag(field: string, value: unknown, otherwise: boolean): Reading<boolean> {
  if (!isGiven(value)) return { kind: 'ok', value: otherwise };
  const text = textOf(value).toLowerCase();
  if (yes.includes(text)) return { kind: 'ok', value: true };
  if (no.includes(text)) return { kind: 'ok', value: false };
  return refusedValue(field, 'must be true or false');
}
