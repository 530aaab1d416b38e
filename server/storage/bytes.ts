import type { Connection } from './database.ts';

/** Byte strings as rows `made (digest)`: the client library does not support arrays of them. */
export function asRows(sql: Connection, digests: readonly Buffer[]) {
  const texts = digests.map((digest) => digest.toString('hex'));
  return sql`(select decode(text, 'hex') as digest from unnest(${texts}::text[]) as given (text)) as made`;
}
