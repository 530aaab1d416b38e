import type { Reading } from '../names/read-name.ts';
import { refusedValue } from './refusal.ts';
import { textOf } from './text-of.ts';

/** A flag as JSON, CSV or a database writes it (`t` by psql); `otherwise` if the source does not say. */
export function readFlag(field: string, value: unknown, otherwise: boolean): Reading<boolean> {
  if (value === undefined || value === null || value === '') return { kind: 'ok', value: otherwise };
  const text = textOf(value).toLowerCase();
  if (['true', '1', 'yes', 't'].includes(text)) return { kind: 'ok', value: true };
  if (['false', '0', 'no', 'f'].includes(text)) return { kind: 'ok', value: false };
  return refusedValue(field, 'must be true or false');
}
