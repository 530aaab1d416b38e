import { placeOfVisitor, queueMail } from '../mail/queue-mail.ts';
import type { Connection } from '../storage/database.ts';
import { putDevice } from '../storage/device.ts';
import { wantsNewDeviceMail } from '../storage/new-device-mail.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';

/**
 * Records the browser of a sign-in by passkey or by a provider, and tells the user of a new one; returns its token. Alone neither
 * is a password: such a browser gets no attempts of its own for one (docs/decisions/0008).
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
