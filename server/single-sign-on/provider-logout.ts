import type { FastifyRequest } from 'fastify';
import { insertAuditEvent, insertEventOnceAMinute } from '../audit/audit-event.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { recordKey } from '../throttle/throttle-keys.ts';
import { deleteSessionsOfProvider } from './provider-sessions.ts';
import type { SsoConnection } from './sso-connection.ts';

/** Whose sessions a provider ends: those of a subject, of sessions of its own, or both; and when it said so. */
export type ProviderLogout = { subject: string | null; sessions: string[]; issuedAt: Date };

/** Ends what a verified logout names, for each of the connections that share its provider, and records one event a person. */
export async function endSessionsByProvider(
  { sql, now }: Deps,
  request: FastifyRequest,
  { subject, sessions, issuedAt }: ProviderLogout,
  { connections, address }: { connections: readonly SsoConnection[]; address: string },
): Promise<void> {
  const subjectHash = subject === null ? null : tokenHash(subject);
  const sessionHashes = sessions.map(tokenHash);
  for (const { id: connectionId, key: connection } of connections)
    await sql.begin(async (sql) => {
      const ended = await deleteSessionsOfProvider(sql, { connectionId, subjectHash, sessionHashes, issuedAt });
      for (const [userId, username] of new Map(ended.map((one) => [one.userId, one.username]))) {
        const outcome = `${ended.filter((one) => one.userId === userId).length} ended`;
        const more = { connection, address, requestId: request.id, steps: [{ step: 'sessions', outcome }] };
        await insertAuditEvent(sql, { event: 'signed-out-by-provider', userId, username, ...more }, now());
      }
    });
}

/** Records a refused logout that claims to be a provider's, once a minute per address. */
export async function recordLogoutRefusal(
  { sql, now }: Deps,
  request: FastifyRequest,
  { step, words }: { step: string; words: string },
  { connection, address }: { connection?: string | undefined; address: string },
): Promise<void> {
  const steps = [{ step, outcome: words }];
  await insertEventOnceAMinute(
    sql,
    { event: 'provider-logout-refused', requestId: request.id, address, steps, ...(connection && { connection }) },
    recordKey(step, address),
    now(),
  );
}
