import { randomInt } from 'node:crypto';
import type { Language } from '#contract/languages.ts';
import { codeLength } from '#contract/one-time-code.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { type MailReader, queueMail } from '../mail/queue-mail.ts';
import { codeDigest } from '../secrets/code-digest.ts';
import { findEmailCode, putEmailCode } from '../storage/email-code.ts';
import { countAttempt } from '../storage/throttle.ts';
import { codeMailKey } from '../throttle/throttle-keys.ts';

/** What came of sending a code; `retryAfter` in milliseconds, null when this half session gets no more. */
export type SendResult = { kind: 'sent' } | { kind: 'wait'; retryAfter: number | null };

/** From where a code was asked; `delay` is how long its mail waits for a second press of the same button, in milliseconds. */
export type Circumstances = { address: string; browser?: string | undefined; language: Language; delay?: number };

/**
 * Sends a half session a code by e-mail, in place of the one before. Who presses again too soon or too often waits; so
 * does an account that got too many within the hour.
 */
export async function sendEmailCode(
  deps: Deps,
  sessionHash: Buffer,
  reader: MailReader,
  { delay = 0, ...circumstances }: Circumstances,
): Promise<SendResult> {
  const now = deps.now();
  const wait = await waitBeforeSend(deps, sessionHash, now);
  if (wait) return wait;
  const until = await countAttempt(deps.sql, [codeMailKey(reader.id)], now);
  if (until) return { kind: 'wait', retryAfter: until.getTime() - now.getTime() };
  const code = newEmailCode();
  const codeHash = codeDigest(deps.keys.code, code, sessionHash);
  const sent = await deps.sql.begin(async (sql) => {
    const endsAt = new Date(now.getTime() + limits.emailCode);
    const put = await putEmailCode(
      sql,
      { sessionHash, userId: reader.id, codeHash, madeAt: now, endsAt },
      { mostSends: limits.emailCodeSends, lastBefore: new Date(now.getTime() - limits.emailCodeSendEvery) },
    );
    if (put)
      await queueMail(
        sql,
        reader,
        { kind: 'signInCode', now, delay, ...known(circumstances) },
        {
          token: code,
          tokenHash: codeHash,
          keys: deps.keys.seal,
        },
      );
    return put;
  });
  if (!sent) return (await waitBeforeSend(deps, sessionHash, now)) ?? { kind: 'wait', retryAfter: null };
  if (delay > 0) setTimeout(deps.wake.mails, delay).unref();
  else deps.wake.mails();
  return { kind: 'sent' };
}

/** Six digits, each number as likely as any other, leading zeros among them. */
export function newEmailCode(): string {
  return String(randomInt(10 ** codeLength)).padStart(codeLength, '0');
}

/** How long a half session has to wait for its next code, or null when it need not. */
export async function waitBeforeSend(
  { sql }: Deps,
  sessionHash: Buffer,
  now: Date,
): Promise<{ kind: 'wait'; retryAfter: number | null } | null> {
  const last = await findEmailCode(sql, sessionHash);
  if (!last) return null;
  if (last.sent >= limits.emailCodeSends) return { kind: 'wait', retryAfter: null };
  const retryAfter = last.madeAt.getTime() + limits.emailCodeSendEvery - now.getTime();
  return retryAfter > 0 ? { kind: 'wait', retryAfter } : null;
}

function known({ browser, ...rest }: Circumstances) {
  return { ...rest, ...(browser && { browser }) };
}
