import { keyedDigest } from '../crypto/keys.ts';
import { refuseWhenHashesWait, verifyPassword } from '../crypto/password-hash.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { foldLoginName } from '../names/read-name.ts';
import { findSignInUser, type LookUp, type SignInUser } from '../people/sign-in-user.ts';
import type { Visitor } from '../sessions/visitor.ts';
import { admitAddress, countGuess } from '../throttle/throttle.ts';
import {
  accountKey,
  addressKeys,
  deviceKey,
  networkOf,
  type ThrottleKey,
  unknownNameKey,
} from '../throttle/throttle-keys.ts';

type Guess = Pick<Visitor, 'address' | 'deviceToken'> & { username: string; password: string };

/** What came of it: nothing is looked at while the address has to wait; `counted`: under which it counts. */
type Tried =
  | { kind: 'addressWaits'; until: Date }
  | {
      kind: 'tried';
      user: SignInUser | null;
      lookUp: LookUp;
      counted: ThrottleKey;
      isKnownDevice: boolean;
      mayTry: boolean;
      isRight: boolean;
    };

/**
 * Counts a guess and then checks it, with the same work for every name, so that its time reveals nothing: one read, one count,
 * one argon2id. Refused before is only an address that has to wait, and everybody while too many hashes wait: then it throws
 * WorkQueueFull.
 */
export async function tryPassword(deps: Deps, guess: Guess): Promise<Tried> {
  const { sql, keys } = deps;
  const { username, password, address, deviceToken } = guess;
  const network = networkOf(address);
  refuseWhenHashesWait(network);
  const now = deps.now();

  const fold = foldLoginName(username);
  const deviceHash = deviceToken ? tokenHash(deviceToken) : null;
  const lookUp = { fold, address, deviceHash, now };
  const user = await findSignInUser(sql, lookUp);

  const isKnownDevice = user?.deviceKnown === true && deviceHash !== null;
  const until = isKnownDevice ? null : await admitAddress(sql, addressKeys(address), now);
  if (until) return { kind: 'addressWaits', until };
  const counted = isKnownDevice
    ? { key: deviceKey(deviceHash, user.id), limit: limits.throttle.device }
    : { key: user ? accountKey(user.id) : unknownNameKey(fold), limit: limits.throttle.account };
  const mayTry = await countGuess(sql, counted, keyedDigest(keys.guess, `${fold}\n${password}`), now);

  // Without a hash a decoy is verified, which takes the same time.
  const isRight = await verifyPassword(mayTry ? (user?.passwordHash ?? null) : null, password, network);
  return { kind: 'tried', user, lookUp, counted, isKnownDevice, mayTry, isRight };
}
