import type { Connection } from '../database/database.ts';

/** Counts an attempt at a code in a half session, up to `most`; returns its number, or null if they are used up or it is gone. */
export async function countCodeTry(sql: Connection, sessionId: string, most: number): Promise<number | null> {
  const [row] = await sql<{ tries: number }[]>`
    update session set code_tries = code_tries + 1
    where id = ${sessionId} and stage = 'half' and code_tries < ${most}
    returning code_tries as tries`;
  return row?.tries ?? null;
}
