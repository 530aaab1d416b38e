import type { Reading } from '../names/read-name.ts';
import { readPasswordHash } from './read-password-hash.ts';
import { isRecord, refusedValue, type SourceRecord, textOf } from './read-value.ts';
import type { SourceUser } from './source-user.ts';

/** A line of `manage.py dumpdata auth.user --format jsonl`: the model, the key, and the fields of the user. */
export function readDjango({ fields, model }: SourceRecord): Reading<SourceUser> {
  if (!isRecord(fields) || !('password' in fields)) {
    const what = JSON.stringify((textOf(model) || 'something else').slice(0, 100));
    return refusedValue('line', `is not a user, but ${what}`);
  }
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
