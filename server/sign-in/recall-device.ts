import { customersOfEvent } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { deleteDeviceByFormerToken, isRememberedSince, rotateRememberedDevice } from '../storage/remembered-device.ts';
import type { SecondFactor } from '../storage/second-factor.ts';
import type { SignInCustomer } from '../storage/sign-in.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import type { PressOfSignIn } from './press-of-sign-in.ts';
import { factorsThatSatisfy } from './second-factor.ts';

/**
 * The new token of a browser that may skip the code, or null if it must not: it isn't remembered for this user, was
 * remembered by a weaker factor, or one of the admitting customers forbids it. The second press of the same button gets
 * the token that the first one got. The token changes at every use, so a browser and a copy of its token cannot both go
 * on: once one of them presents a token that the other has used, however long ago, the device is forgotten and an event
 * recorded. A browser that lost a response looks the same; it costs that person one code.
 */
export async function recallDevice(
  { sql, now }: { sql: Connection; now: Deps['now'] },
  user: { id: string; username: string },
  asked: SecondFactor,
  admitting: readonly SignInCustomer[],
  { rememberedToken, address, requestId }: Pick<KnownVisitor, 'rememberedToken' | 'address' | 'requestId'>,
  press: PressOfSignIn | null = null,
): Promise<string | null> {
  if (rememberedToken === null || !admitting.every(mayRemember)) return null;
  const { id: userId, username } = user;
  const factors = factorsThatSatisfy(asked);
  const [after, earlier] = press ? press.tokens.map(({ remembered }) => remembered) : [newToken()];
  const before = tokenHash(rememberedToken);
  const hashes = { before, after: tokenHash(after as string) };
  if (await rotateRememberedDevice(sql, { userId, factors, ...hashes, address, now: now() })) return after as string;
  for (const token of press ? [after, earlier] : []) {
    const device = { tokenHash: tokenHash(token as string), userId, factors };
    if (press && (await isRememberedSince(sql, device, press.since))) return token as string;
  }
  const replacedBy = new Date(now().getTime() - limits.sameCodePress);
  const forgotten = await deleteDeviceByFormerToken(sql, { tokenHash: before, userId, replacedBy });
  if (forgotten) {
    const { browser, address: usedFrom, lastUsedAt } = forgotten;
    const steps = [
      { step: 'device', outcome: `${browser ?? 'unknown'}, last used ${lastUsedAt.toISOString()} from ${usedFrom}` },
    ];
    await insertAuditEvent(
      sql,
      { event: 'remembered-token-reused', userId, username, ...customersOfEvent(admitting), address, requestId, steps },
      now(),
    );
  }
  return null;
}

/** Customers that don't require a second factor are ignored. */
function mayRemember({ twoFactor, rememberDevices }: Pick<SignInCustomer, 'twoFactor' | 'rememberDevices'>): boolean {
  return rememberDevices || twoFactor === 'off';
}
