import { randomInt } from 'node:crypto';
import { groupedRecoveryCode } from '#contract/codes.ts';
import { addCustomer } from '#server/accounts/customers.ts';
import { inviteUsers } from '#server/accounts/invite-users.ts';
import { addUser } from '#server/accounts/users.ts';
import { insertAuditEvent } from '#server/audit/audit-event.ts';
import { newReference } from '#server/audit/reference.ts';
import { codeDigest, type Keys, seal } from '#server/crypto/keys.ts';
import { hashPassword } from '#server/crypto/password-hash.ts';
import type { Database } from '#server/database/database.ts';
import { newRecoveryCode, replaceRecoveryCodes } from '#server/factors/recovery-codes.ts';
import { totpPlace } from '#server/factors/registration.ts';
import { insertTotp, newTotpSecret } from '#server/factors/totp.ts';
import { day, hour, limits, minute } from '#server/limits.ts';
import { findUser } from '#server/people/portal-user.ts';
import { issueResetLink } from '#server/sign-in/reset-link.ts';
import { addConnection, type ConnectionToAdd } from '#server/single-sign-on/change-connection.ts';
import { countFailures } from '#server/throttle/throttle.ts';
import { accountKey } from '#server/throttle/throttle-keys.ts';
import { connections, customers, emailOf, lastWeek, type Person, people } from './people.ts';
import type { Place } from './place.ts';

/** A person with the password made for this run, if they have one. */
export type Account = Person & { email: string; password: string | null };

/** What the portal is told of the providers. */
type ProviderFacts = {
  oidc: { issuer: string; secrets: ReadonlyMap<string, string> };
  saml: { entityId: string; signOnUrl: string; certificate: string };
  place: Place;
};

type Filled = { accounts: Account[]; expiredToken: string; recoveryCode: string; reference: string };

/** Fills an empty portal with customers, users and connections, through the functions that the command line uses. */
export async function fillPortal(
  { sql, keys, now }: { sql: Database; keys: Keys; now: Date },
  providers: ProviderFacts,
): Promise<Filled> {
  // Before last week's sign-ins.
  const by = { actor: 'demo', now: new Date(now.getTime() - 8 * day) };
  const ids = new Map<string, string>();
  for (const customer of customers) await addCustomer(sql, customer, by);
  const accounts = await Promise.all(
    people.map(async (person) => {
      const password = person.hasPassword ? newPassword() : null;
      const account = { ...person, email: emailOf(person), password };
      const user = {
        username: person.username,
        email: account.email,
        passwordHash: password && (await hashPassword(password, null)),
        language: person.language ?? null,
        active: !person.isInactive,
        mayChangePassword: true,
        name: person.name,
        customers: person.customers,
        groups: (person.groups ?? []).map((group) => `${person.customers[0]}:${group}`),
        role: person.role ?? null,
        administers: person.administers ? [person.customers[0]] : [],
      };
      const added = await addUser(sql, user, by);
      if (added.kind !== 'added') throw new Error(`${person.username}: ${added.kind}`);
      ids.set(person.username, added.id);
      if (person.hasApp) await giveApp({ sql, keys, now }, added.id);
      return account;
    }),
  );
  for (const connection of connections)
    await addConnection({ sql, keys }, connectionOf(connection, providers, now), by);
  await haveSignedIn(sql, ids, now);
  // In the order of their times, as events are listed.
  const expiredToken = await issueExpiredLink(sql, now);
  const reference = await letWait(
    sql,
    { userId: ids.get('lars') as string, username: 'lars', customerKey: 'alder' },
    now,
  );
  const invited = people.filter(({ isInvited }) => isInvited).map(({ username }) => username);
  const invitation = await inviteUsers(sql, keys, invited, { ...by, now });
  if (invitation.kind !== 'invited') throw new Error('nobody could be invited');
  return { accounts, expiredToken, recoveryCode: await giveRecoveryCodes({ sql, keys }, 'rita'), reference };
}

/** Last week's sign-ins, in their order. */
async function haveSignedIn(sql: Database, ids: ReadonlyMap<string, string>, now: Date): Promise<void> {
  const signIns = lastWeek.flatMap(({ times, ...signIn }) =>
    Array.from({ length: times }, (_, number) => ({ ...signIn, daysAgo: (6 * (number + 1)) / times })),
  );
  for (const { daysAgo, ...signIn } of signIns.toSorted((one, other) => other.daysAgo - one.daysAgo)) {
    const event = { event: 'signed-in', userId: ids.get(signIn.username) as string, customerKey: 'hazel' } as const;
    await insertAuditEvent(sql, { ...event, ...signIn }, new Date(now.getTime() - daysAgo * day));
  }
}

type Known = { userId: string; username: string; customerKey: string };

/** Somebody has typed wrong passwords until they must wait; returns the reference on their screen. */
async function letWait(sql: Database, who: Known, now: Date): Promise<string> {
  const { freeFailures } = limits.throttle.account;
  const key = { key: accountKey(who.userId), limit: limits.throttle.account };
  // Longer than a wait really is: whoever tries the demo later finds it, too.
  await countFailures(sql, Array(freeFailures).fill(key), new Date(now.getTime() + 8 * hour));
  let reference = '';
  for (let left = freeFailures; left >= 0; left -= 1) {
    reference = newReference();
    const mayTry = left > 0;
    const steps = [
      { step: 'account', outcome: `found: ${who.username}` },
      { step: 'browser', outcome: 'not known' },
      { step: 'throttle', outcome: mayTry ? 'may continue' : 'too many failures, must wait' },
      { step: 'password', outcome: mayTry ? 'wrong' : 'not checked' },
    ];
    const reason = mayTry ? 'wrong-password' : 'throttled-account';
    const event = { event: 'sign-in-refused', reason, reference, steps, ...who } as const;
    const at = new Date(now.getTime() - left * minute);
    await insertAuditEvent(sql, { ...event, address: '198.51.100.12', browser: 'Safari, iOS' }, at);
  }
  return reference;
}

async function giveApp({ sql, keys, now }: { sql: Database; keys: Keys; now: Date }, userId: string): Promise<void> {
  const sealedSecret = seal(keys.seal, newTotpSecret(), totpPlace(userId));
  await insertTotp(sql, { userId, sealedSecret, lastStep: 0, confirmedAt: now });
}

function connectionOf(
  row: (typeof connections)[number],
  { oidc, saml, place }: ProviderFacts,
  now: Date,
): ConnectionToAdd {
  const { key, name, customer, makesUsers, required } = row;
  const common = {
    key,
    name,
    customerKey: customer,
    required,
    makesUsers,
    secondFactorValues: [],
    attributes: { name: row.protocol === 'saml' ? 'displayName' : 'name', groups: 'groups' },
    domains: [`${customer}.example`],
    // Soon enough that the desk says so.
    secretEndsAt: key === 'hazel-office' ? new Date(now.getTime() + 12 * day) : null,
    providerNetworks: place.tls === null ? ['127.0.0.0/8'] : [`${place.host}/32`],
  };
  if (row.protocol === 'saml') {
    // One provider can begin for one connection only: nothing in its answer says which is meant.
    const settings = {
      entityId: saml.entityId,
      signOnUrl: saml.signOnUrl,
      certificates: [saml.certificate],
      metadataUrl: null,
      mayBegin: key === 'fir',
      wantsEncryption: false,
    };
    return { ...common, protocol: 'saml', settings, secret: null, trustsEmail: true };
  }
  const settings = {
    issuer: oidc.issuer,
    clientId: key,
    clientAuthentication: 'basic' as const,
    scopes: ['email', 'profile'],
  };
  return { ...common, protocol: 'oidc', settings, secret: oidc.secrets.get(key) ?? null, trustsEmail: false };
}

/** Ten codes for when the phone is gone; returns one of them as people see it. */
async function giveRecoveryCodes({ sql, keys }: { sql: Database; keys: Keys }, name: string): Promise<string> {
  const user = await findUser(sql, name);
  if (!user) throw new Error(`${name}: no such user`);
  const codes = Array.from({ length: limits.recoveryCodes }, newRecoveryCode);
  await replaceRecoveryCodes(
    sql,
    user.id,
    codes.map((code) => codeDigest(keys.code, code, user.id)),
  );
  return groupedRecoveryCode(codes[0] as string);
}

/** The token of a link that ended before the demo began. */
async function issueExpiredLink(sql: Database, now: Date): Promise<string> {
  const link = await issueResetLink(sql, 'lena', { actor: 'demo', now: new Date(now.getTime() - 90 * minute) });
  if (link.kind !== 'issued') throw new Error(`lena: ${link.kind}`);
  return link.token;
}

const words =
  'amber anchor arbor basil beacon birch bridge canyon cedar cobalt copper coral ember falcon garnet granite harbour hazel indigo island ivory jasper juniper lagoon lantern linden maple marble meadow mosaic nectar olive onyx orchard pebble pepper quartz raven river saffron sierra silver spruce summit tundra umber valley velvet walnut willow winter zephyr'.split(
    ' ',
  );

/** A password for a demo: easy to read and to type on a phone, another one at every start, and good by the portal's rules. */
export function newPassword(): string {
  const first = randomInt(words.length);
  // Another one than the first.
  const second = (first + randomInt(1, words.length)) % words.length;
  return `${capitalized(first)}-${capitalized(second)}-${randomInt(10, 100)}`;
}

function capitalized(index: number): string {
  const word = words[index] as string;
  return word.charAt(0).toUpperCase() + word.slice(1);
}
