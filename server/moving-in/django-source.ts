import type { Reading } from '../names/read-name.ts';
import { isRecord } from './is-record.ts';
import { readPasswordHash } from './read-password-hash.ts';
import { refusedValue } from './refusal.ts';
import type { SourceRecord, SourceUser } from './source-user.ts';
import { textOf } from './text-of.ts';

/** A line of `manage.py dumpdata auth.user --format jsonl`: the model, the key, and the fields of the user. */
export function readDjango(record: SourceRecord): Reading<SourceUser> {
  const { fields, model } = record;
  if (!isRecord(fields) || !('password' in fields))
    return refusedValue(
      'line',
      `is not a user, but ${JSON.stringify((textOf(model) || 'something else').slice(0, 100))}`,
    );
  return {
    kind: 'ok',
    value: {
      username: fields.username,
      email: fields.email,
      active: fields.is_active,
      createdAt: fields.date_joined,
      passwordHash: readPasswordHash(fields.password),
    },
  };
}
