import { newToken, tokenHash } from '../crypto/token.ts';
import type { Connection } from '../database/database.ts';
import { limits } from '../limits.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { browserName } from '../names/browser-name.ts';
import { putDevice } from '../people/device.ts';
import type { HalfSession } from '../sessions/half-session.ts';
import type { KnownVisitor } from '../sessions/visitor.ts';
import { placeOfVisitor } from '../sessions/visitor.ts';
import { wantsNewDeviceMail } from './new-device-mail.ts';
import { insertRememberedDevice } from './remembered-device.ts';

/**
 * Records the browser of a sign-in, and tells the user of a new one; returns its token. Only by a password does it get attempts of
 * its own for one (docs/decisions/0008).
 */
export async function noteDevice(
  sql: Connection,
  user: { id: string; username: string; email: string; language: string | null },
  visitor: KnownVisitor,
  { passkey, byPassword, now }: { passkey?: string; byPassword: boolean; now: Date },
): Promise<string> {
  const { deviceToken, isNew } = await putDevice(sql, visitor.deviceToken, { userId: user.id, byPassword, now });
  if (isNew && (await wantsNewDeviceMail(sql, user.id)))
    await queueMail(sql, user, { kind: 'newDevice', now, ...placeOfVisitor(visitor), ...(passkey && { passkey }) });
  return deviceToken;
}

/** The token of a browser that is to skip the code from now on; null if it is not, or a customer forbids it. */
export async function rememberDevice(
  sql: Connection,
  { remember, userAgent, address }: KnownVisitor & { remember: boolean },
  { userId, factor, customers }: Pick<HalfSession, 'userId' | 'factor'> & { customers: { rememberDevices: boolean }[] },
  now: Date,
): Promise<string | null> {
  if (!remember || !customers.every(({ rememberDevices }) => rememberDevices)) return null;
  const token = newToken();
  await insertRememberedDevice(sql, {
    tokenHash: tokenHash(token),
    userId,
    factor,
    browser: browserName(userAgent) ?? null,
    address,
    madeAt: now,
    endsAt: new Date(now.getTime() + limits.rememberedDevice),
  });
  return token;
}
