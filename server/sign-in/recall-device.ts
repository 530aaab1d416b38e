import type { Deps } from '../deps/deps.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import type { Connection } from '../storage/database.ts';
import { isRememberedSince, rotateRememberedDevice } from '../storage/remembered-device.ts';
import type { SecondFactor } from '../storage/second-factor.ts';
import type { SignInCustomer } from '../storage/sign-in.ts';
import type { PressOfSignIn } from './press-of-sign-in.ts';
import { factorsThatSatisfy } from './second-factor.ts';

/**
 * The new token of a browser that may skip the code, or null if it must not: it isn't remembered for this user, was
 * remembered by a weaker factor, or one of the admitting customers forbids it. The token changes at every use: of a
 * browser and a copy of its token, only the first to use it goes on without a code. That is not recorded; the other one
 * is asked for a code. The second press of the same button gets the token that the first one got.
 */
export async function recallDevice(
  { sql, now }: { sql: Connection; now: Deps['now'] },
  userId: string,
  asked: SecondFactor,
  admitting: readonly SignInCustomer[],
  { rememberedToken, address }: { rememberedToken: string | null; address: string },
  press: PressOfSignIn | null = null,
): Promise<string | null> {
  if (rememberedToken === null || !admitting.every(mayRemember)) return null;
  const factors = factorsThatSatisfy(asked);
  const [after, earlier] = press ? press.tokens.map(({ remembered }) => remembered) : [newToken()];
  const hashes = { before: tokenHash(rememberedToken), after: tokenHash(after as string) };
  if (await rotateRememberedDevice(sql, { userId, factors, ...hashes, address, now: now() })) return after as string;
  for (const token of press ? [after, earlier] : []) {
    const device = { tokenHash: tokenHash(token as string), userId, factors };
    if (press && (await isRememberedSince(sql, device, press.since))) return token as string;
  }
  return null;
}

/** Customers that don't require a second factor are ignored. */
export function mayRemember({
  twoFactor,
  rememberDevices,
}: Pick<SignInCustomer, 'twoFactor' | 'rememberDevices'>): boolean {
  return rememberDevices || twoFactor === 'off';
}
