import { randomInt } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { groupedRecoveryCode, recoveryCodeAlphabet, recoveryCodeLetters } from '#contract/codes.ts';
import { destinationInLanguage } from '#contract/destination.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { codeDigest, seal, unseal } from '../crypto/keys.ts';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { languageOverride, queryValue } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import { destinationFor } from '../sessions/destination.ts';
import { visitorOf } from '../sessions/visitor.ts';

/** Gives a user exactly these recovery codes. */
export async function replaceRecoveryCodes(sql: Connection, userId: string, digests: readonly Buffer[]): Promise<void> {
  await sql`delete from recovery_code where user_id = ${userId}`;
  await sql`
    insert into recovery_code (user_id, code_hash)
    select ${userId}, digest from unnest(${digests}::bytea[]) digest`;
}

/** How many unused recovery codes a user has. */
export async function countRecoveryCodes(sql: Connection, userId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count from recovery_code where user_id = ${userId} and used_at is null`;
  return row?.count ?? 0;
}

export async function deleteRecoveryCodes(sql: Connection, userId: string): Promise<void> {
  await sql`delete from recovery_code where user_id = ${userId}`;
  await sql`delete from shown_recovery_codes where user_id = ${userId}`;
}

export async function findShownRecoveryCodes(
  sql: Connection,
  { userId, sessionId, now }: { userId: string; sessionId: string; now: Date },
): Promise<Buffer | null> {
  const [row] = await sql<{ codes: Buffer }[]>`
    select sealed_codes as codes from shown_recovery_codes
    where user_id = ${userId} and session_id = ${sessionId} and shown_until > ${now}`;
  return row?.codes ?? null;
}

/** Whose codes they are, and the one session that may view them. */
type Viewer = { userId: string; sessionId: string };

/** Gives a user ten new recovery codes, replacing the existing ones; one session can view them for a few minutes. */
export async function makeRecoveryCodes({ keys }: Deps, sql: Connection, viewer: Viewer, now: Date): Promise<void> {
  const { userId } = viewer;
  const codes = Array.from({ length: limits.recoveryCodes }, newRecoveryCode);
  await replaceRecoveryCodes(
    sql,
    userId,
    codes.map((code) => codeDigest(keys.code, code, userId)),
  );
  const shownUntil = new Date(now.getTime() + limits.recoveryCodesShown);
  await sql`
    insert into shown_recovery_codes (user_id, session_id, sealed_codes, shown_until)
    values (${userId}, ${viewer.sessionId}, ${seal(keys.seal, codes.join(' '), shownPlace(viewer))}, ${shownUntil})
    on conflict (user_id) do update set session_id = excluded.session_id,
      sealed_codes = excluded.sealed_codes, shown_until = excluded.shown_until`;
}

export function newRecoveryCode(): string {
  const letter = () => recoveryCodeAlphabet[randomInt(recoveryCodeAlphabet.length)];
  return Array.from({ length: recoveryCodeLetters }, letter).join('');
}

/** Binding (additional data) for shown codes: a copy in another user's or session's row does not open. */
function shownPlace({ userId, sessionId }: Viewer): string {
  return `recovery-codes:${userId}:${sessionId}`;
}

/** `GET two-factor-authentication/recovery-codes`: new codes, in the session that made them; otherwise how many are left. */
export function recoveryCodesRoute(deps: Deps) {
  const { config } = deps;

  return async function recoveryCodes(request: FastifyRequest, reply: FastifyReply) {
    const asked = queryValue(request, queryNames.redirectUrl) ?? '';
    const lang = languageOverride(request);
    const who = await visitorOf(deps, request).who();
    if (who.kind !== 'full') {
      const query = { [queryNames.destination]: asked || undefined, [queryNames.language]: lang };
      return reply.redirect(screenUrl(config.basePath, 'login', query), 302);
    }
    const { id: sessionId, userId, username } = who.session;
    const viewer = { userId, sessionId };
    const sealed = await findShownRecoveryCodes(deps.sql, { ...viewer, now: deps.now() });
    const text = sealed && unseal(deps.keys.seal, sealed, shownPlace(viewer));
    const codes = text?.split(' ').map(groupedRecoveryCode) ?? null;
    const left = await countRecoveryCodes(deps.sql, userId);
    const destination = destinationInLanguage(destinationFor(config, asked), config.basePath, lang);
    return await deps.pages.send(reply, 200, {
      screen: { name: 'recoveryCodes', codes, left, destination },
      typedUsername: username,
    });
  };
}
