import { tokenHash } from '../secrets/token.ts';
import type { Connection } from '../storage/database.ts';
import { noteRememberedDeviceUse } from '../storage/remembered-device.ts';
import type { SecondFactor } from '../storage/second-factor.ts';
import type { SignInCustomer } from '../storage/sign-in.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import { factorsThatSatisfy } from './second-factor.ts';

/**
 * Whether a browser may skip the code: it is remembered for this user, by no weaker factor, and none of the admitting
 * customers forbids it.
 */
export async function recallDevice(
  sql: Connection,
  userId: string,
  asked: SecondFactor,
  admitting: readonly SignInCustomer[],
  { rememberedToken, address }: Pick<KnownVisitor, 'rememberedToken' | 'address'>,
  now: Date,
): Promise<boolean> {
  if (rememberedToken === null || !admitting.every(mayRemember)) return false;
  const factors = factorsThatSatisfy(asked);
  return await noteRememberedDeviceUse(sql, { userId, factors, tokenHash: tokenHash(rememberedToken), address, now });
}

/** Customers that don't require a second factor are ignored. */
function mayRemember({ twoFactor, rememberDevices }: Pick<SignInCustomer, 'twoFactor' | 'rememberDevices'>): boolean {
  return rememberDevices || twoFactor === 'off';
}
