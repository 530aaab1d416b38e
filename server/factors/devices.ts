import { newToken, tokenHash } from '../crypto/token.ts';
import type { Connection } from '../database/database.ts';
import { limits } from '../limits.ts';
import { queueMail } from '../mail/queue-mail.ts';
import type { SecondFactor } from '../people/sign-in-policy.ts';
import type { HalfSession } from '../sessions/half-session.ts';
import { placeOfVisitor, type Visitor } from '../sessions/visitor.ts';

/**
 * Records the browser that a user signed in from. Returns its token, and whether it is new: one known only through a provider
 * is new for the password. A token that is not known for this user may have been planted by somebody who would then share their
 * trust, so the browser gets another; whoever else was known by the old one is new at their next sign-in there.
 */
export async function putDevice(
  sql: Connection,
  shown: string | null,
  { userId, byPassword, now }: { userId: string; byPassword: boolean; now: Date },
): Promise<{ deviceToken: string; isNew: boolean }> {
  if (shown !== null && (await updateDeviceUsed(sql, tokenHash(shown), { userId, byPassword, now })))
    return { deviceToken: shown, isNew: false };
  const fresh = newToken();
  await sql`
    insert into device (token_hash, user_id, last_used_at, by_password)
    values (${tokenHash(fresh)}, ${userId}, ${now}, ${byPassword})`;
  return { deviceToken: fresh, isNew: true };
}

/** False if the user is not known in a browser, or not in this way. */
async function updateDeviceUsed(
  sql: Connection,
  hash: Buffer,
  { userId, byPassword, now }: { userId: string; byPassword: boolean; now: Date },
): Promise<boolean> {
  const since = new Date(now.getTime() - limits.deviceLifetime);
  const { count } = await sql`
    update device set last_used_at = ${now}
    where token_hash = ${hash} and user_id = ${userId} and last_used_at > ${since} and (by_password or not ${byPassword})`;
  return count > 0;
}

/** Whether anybody has signed in in a browser. */
export async function isKnownDevice(sql: Connection, hash: Buffer): Promise<boolean> {
  return (await sql`select from device where token_hash = ${hash} limit 1`).length > 0;
}

/** Forgets the browsers that a user signed in from. */
export async function deleteDevicesOfUser(sql: Connection, userId: string): Promise<void> {
  await sql`delete from device where user_id = ${userId}`;
}

/** Records the browser of a sign-in, and tells the user of a new one; returns its token (docs/decisions/0008). */
export async function noteDevice(
  sql: Connection,
  user: { id: string; username: string; email: string; language: string | null },
  visitor: Visitor,
  { passkey, byPassword, now }: { passkey?: string; byPassword: boolean; now: Date },
): Promise<string> {
  const { deviceToken, isNew } = await putDevice(sql, visitor.deviceToken, { userId: user.id, byPassword, now });
  if (isNew && (await wantsNewDeviceMail(sql, user.id)))
    await queueMail(sql, user, { kind: 'newDevice', now, ...placeOfVisitor(visitor), ...(passkey && { passkey }) });
  return deviceToken;
}

/** Whether any active customer of the user wants a new browser reported: from now on it is known, and never reported. */
async function wantsNewDeviceMail(sql: Connection, userId: string): Promise<boolean> {
  const wanting = await sql`
    select from membership m join customer c on c.id = m.customer_id
    where m.user_id = ${userId} and c.active and c.new_device_mail limit 1`;
  return wanting.length > 0;
}

/** The token of a browser that is to skip the code from now on; null if it is not, or a customer forbids it. */
export async function rememberDevice(
  sql: Connection,
  { remember, browser, address }: Visitor & { remember: boolean },
  { userId, factor, customers }: Pick<HalfSession, 'userId' | 'factor'> & { customers: { rememberDevices: boolean }[] },
  now: Date,
): Promise<string | null> {
  if (!remember || !customers.every(({ rememberDevices }) => rememberDevices)) return null;
  const token = newToken();
  const endsAt = new Date(now.getTime() + limits.rememberedDevice);
  await sql`
    insert into remembered_device (token_hash, user_id, factor, browser, address, made_at, last_used_at, ends_at)
    values (${tokenHash(token)}, ${userId}, ${factor}, ${browser}, ${address}, ${now}, ${now}, ${endsAt})`;
  return token;
}

type RememberedDevice = {
  id: string;
  /** What was proven when it was remembered; a recovery code counts as the app. */
  factor: SecondFactor;
  browser: string | null;
  address: string;
  madeAt: Date;
  lastUsedAt: Date;
  endsAt: Date;
  /** The browser that asks. */
  isThis: boolean;
};

/** The factor by which a browser is remembered for a user, which is noted as a use; null if it is not. */
export async function recallDevice(
  sql: Connection,
  { rememberedToken, address }: { rememberedToken: string | null; address: string },
  userId: string,
  now: Date,
): Promise<SecondFactor | null> {
  if (rememberedToken === null) return null;
  const [row] = await sql<{ factor: SecondFactor }[]>`
    update remembered_device set last_used_at = ${now}, address = ${address}
    where token_hash = ${tokenHash(rememberedToken)} and user_id = ${userId} and ends_at > ${now}
    returning factor`;
  return row?.factor ?? null;
}

/** The remembered devices of a user, most recently used first. `own`: the token of the browser that asks. */
export async function listRememberedDevices(
  sql: Connection,
  userId: string,
  now: Date,
  own: string | null = null,
): Promise<RememberedDevice[]> {
  return await sql<RememberedDevice[]>`
    select id, factor, browser, host(address) as address, made_at as "madeAt", last_used_at as "lastUsedAt", ends_at as "endsAt",
      token_hash is not distinct from ${own && tokenHash(own)} as "isThis"
    from remembered_device where user_id = ${userId} and ends_at > ${now} order by last_used_at desc`;
}

/** Forgets remembered devices of a user, all of them or those of which what is given is true; returns how many. */
export async function deleteRememberedDevices(
  sql: Connection,
  userId: string,
  { id = null, factor = null }: { id?: string | null; factor?: SecondFactor | null } = {},
): Promise<number> {
  const { count } = await sql`
    delete from remembered_device
    where user_id = ${userId} and id = coalesce(${id}::uuid, id) and factor = coalesce(${factor}, factor)`;
  return count;
}
