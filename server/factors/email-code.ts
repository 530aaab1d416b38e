import { randomInt } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { codeLength } from '#contract/codes.ts';
import type { Notice } from '#contract/notices.ts';
import type { VerifyForm } from '#contract/payloads.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { codeDigest } from '../crypto/keys.ts';
import type { Connection } from '../database/database.ts';
import { rowOrNull } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { sendProblem } from '../http/refuse.ts';
import { languageOverride, wantsPage } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import { type MailPlace, type MailReader, queueMail } from '../mail/queue-mail.ts';
import { placeOfVisitor, visitorOf } from '../sessions/visitor.ts';
import { countAttempt, findWait } from '../throttle/throttle.ts';
import { codeMailKey, type FirstFactor } from '../throttle/throttle-keys.ts';

type EmailCode = { sessionId: string; codeHash: Buffer; madeAt: Date; endsAt: Date };

/**
 * Replaces the code of a half session. False if it has used up its emails, the last one is too recent, or it has ended.
 */
async function putEmailCode(sql: Connection, code: EmailCode): Promise<boolean> {
  const lastBefore = new Date(code.madeAt.getTime() - limits.emailCodeSendEvery);
  const { count } = await sql`
    insert into email_code as c (session_id, code_hash, made_at, ends_at)
    select id, ${code.codeHash}, ${code.madeAt}, ${code.endsAt}
    from session where id = ${code.sessionId} for key share
    on conflict (session_id) do update set
      code_hash = excluded.code_hash, made_at = excluded.made_at, ends_at = excluded.ends_at, sent = c.sent + 1
    where c.sent < ${limits.emailCodeSends} and c.made_at <= ${lastBefore}`;
  return count > 0;
}

/** When the code of a half session was made, and how many it has had; or null. */
export async function findEmailCode(sql: Connection, sessionId: string) {
  return await rowOrNull(sql<{ madeAt: Date; sent: number }[]>`
    select made_at as "madeAt", sent from email_code where session_id = ${sessionId}`);
}

/** Whether a code would still be accepted. */
export async function isEmailCodeOpen(sql: Connection, codeHash: Buffer, now: Date): Promise<boolean> {
  return (await sql`select from email_code where code_hash = ${codeHash} and ends_at > ${now}`).length > 0;
}

export async function deleteEmailFactor(sql: Connection, userId: string): Promise<boolean> {
  return (await sql`delete from email_factor where user_id = ${userId}`).count > 0;
}

/**
 * What has to wait for the next code: the half session, which just had one or, if `retryAfter` is null, gets no more;
 * or the account, which got too many. `retryAfter` in milliseconds.
 */
type SendWait = { kind: 'wait'; of: 'session' | 'account'; retryAfter: number | null };

type SendResult = { kind: 'sent' } | SendWait;

/** Where a code was requested from; `endsBy` is when the half session and all its codes end. */
type Circumstances = MailPlace & { endsBy?: Date };

/** Who gets a code, and how they came in. */
export type CodeReader = MailReader & Pick<FirstFactor, 'connectionId'>;

/** Sends a half session a code in place of the last one, unless it, or the account by the same first factor, has to wait. */
export async function sendEmailCode(
  deps: Deps,
  sessionId: string,
  reader: CodeReader,
  { endsBy, ...place }: Circumstances,
): Promise<SendResult> {
  const now = deps.now();
  const first = { userId: reader.id, connectionId: reader.connectionId };
  const wait = await waitBeforeSend(deps, sessionId, first, now);
  if (wait) return wait;
  const until = await countAttempt(deps.sql, [codeMailKey(first)], now);
  if (until) return { kind: 'wait', of: 'account', retryAfter: until.getTime() - now.getTime() };
  const code = newEmailCode();
  const codeHash = codeDigest(deps.keys.code, code, sessionId);
  const validFor = Math.min(limits.emailCode, (endsBy?.getTime() ?? Number.POSITIVE_INFINITY) - now.getTime());
  const endsAt = new Date(now.getTime() + validFor);
  const mail = { kind: 'signInCode', now, validFor, ...place } as const;
  const sealed = { token: code, tokenHash: codeHash, keys: deps.keys.seal };
  const isSent = await deps.sql.begin(async (sql) => {
    const isPut = await putEmailCode(sql, { sessionId, codeHash, madeAt: now, endsAt });
    if (isPut) await queueMail(sql, reader, mail, sealed);
    return isPut;
  });
  if (!isSent)
    return (await waitBeforeSend(deps, sessionId, first, now)) ?? { kind: 'wait', of: 'session', retryAfter: null };
  deps.wake.mails();
  return { kind: 'sent' };
}

/** Six uniformly random digits, including leading zeros. */
export function newEmailCode(): string {
  return String(randomInt(10 ** codeLength)).padStart(codeLength, '0');
}

/** How long a half session has to wait for its next code, because of itself or its account; null if it needn't. */
export async function waitBeforeSend(
  { sql }: Deps,
  sessionId: string,
  first: FirstFactor,
  now: Date,
): Promise<SendWait | null> {
  const last = await findEmailCode(sql, sessionId);
  if (last && last.sent >= limits.emailCodeSends) return { kind: 'wait', of: 'session', retryAfter: null };
  const own = last ? last.madeAt.getTime() + limits.emailCodeSendEvery - now.getTime() : 0;
  const account = (await findWait(sql, [codeMailKey(first)], now)).getTime() - now.getTime();
  const retryAfter = Math.max(own, account);
  // If the session just had a code, the page says that, even if the account waits longer.
  return retryAfter > 0 ? { kind: 'wait', of: own > 0 ? 'session' : 'account', retryAfter } : null;
}

/** `POST two-factor-authentication/send`: a new code by email, replacing the previous one; answers how long to wait. */
export function sendRoute(deps: Deps) {
  const { config } = deps;

  return async function send(request: FastifyRequest<{ Body: Partial<VerifyForm> | null }>, reply: FastifyReply) {
    const result = await sendAnother(request);
    if (wantsPage(request)) return answerPerson(request, reply, result);
    if (!result) return sendProblem(reply, 401, { notice: 'signInExpired' });
    if (result.kind === 'sent') {
      return reply
        .code(204)
        .header('retry-after', String(limits.emailCodeSendEvery / 1000))
        .send();
    }
    const { retryAfter } = result;
    if (retryAfter !== null) reply.header('retry-after', String(Math.ceil(retryAfter / 1000)));
    const notice = noticeOf(result);
    return sendProblem(reply, 429, notice === undefined ? {} : { notice });
  };

  /** Null if no half session waits for a code by email. */
  async function sendAnother(
    request: FastifyRequest<{ Body: Partial<VerifyForm> | null }>,
  ): Promise<SendResult | null> {
    const { address, browser, language, who } = visitorOf(deps, request);
    const found = await who();
    if (found.kind !== 'half') return null;
    const { half } = found;
    if (half.factor !== 'email' || half.codeTries >= limits.codeTries) return null;
    const reader = { ...half, id: half.userId };
    const where = { ...placeOfVisitor({ address, browser, language }), endsBy: half.endsAt };
    return await sendEmailCode(deps, half.id, reader, where);
  }

  function answerPerson(
    request: FastifyRequest<{ Body: Partial<VerifyForm> | null }>,
    reply: FastifyReply,
    result: SendResult | null,
  ): FastifyReply {
    const asked = request.body?.redirectURL || undefined;
    const lang = languageOverride(request);
    if (!result) {
      const over = { [queryNames.notice]: 'signInExpired', [queryNames.destination]: asked, lang };
      return reply.redirect(screenUrl(config.basePath, 'login', over), 303);
    }
    const query = {
      [queryNames.redirectUrl]: asked,
      [queryNames.codeSentViaEmail]: 'true',
      [queryNames.notice]: noticeOf(result),
      lang,
    };
    return reply.redirect(screenUrl(config.basePath, 'twoFactor', query), 303);
  }
}

function noticeOf(result: SendResult): Notice | undefined {
  if (result.kind === 'sent') return 'codeSent';
  if (result.of === 'account') return 'codeNotSent';
  return result.retryAfter === null ? undefined : 'codeTooSoon';
}
