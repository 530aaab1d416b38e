import { languageOfTag } from '#contract/languages.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import { domainOfAddress } from '../names/domain-of-address.ts';
import { foldLoginName } from '../names/fold-name.ts';
import { readUsername } from '../names/read-name.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { lockLoginNames, updateLoginNames } from '../storage/login-name.ts';
import { updateMemberships } from '../storage/membership.ts';
import { foldsOfUser, takenField } from '../storage/names-of-user.ts';
import { insertUser } from '../storage/portal-user.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';
import { findUserOfSubject, insertSsoSubject } from '../storage/sso-subject.ts';
import { findMemberByName, findSsoUserForShare, type SsoUser } from '../storage/sso-user.ts';
import { type Identity, type Refusal, refusalFor } from './identity.ts';
import { verifiedEmail } from './verified-email.ts';

/** The user a provider means, or why there is none. */
export type Match = { kind: 'ok'; user: SsoUser } | (Refusal & { user?: SsoUser });

/**
 * Finds the user a provider means (decisions §9): the one linked with the subject; on first use the one with the
 * verified address, who is then linked; otherwise a new one, if the connection creates users. Only users of the
 * connection's own customer qualify, and a linked user only if no other user of that customer has the verified address.
 * Adds steps as they are taken. The caller may roll back.
 */
export async function matchUser(
  sql: Connection,
  connection: SsoConnection,
  identity: Identity,
  { address, now, steps }: { address: string; now: Date; steps: AuditStep[] },
): Promise<Match> {
  const { customerId } = connection;
  const seen = { customerId, address };
  const linked = await linkedUser(sql, connection, identity, seen, steps);
  if (linked) return linked;
  steps.push({ step: 'subject', outcome: 'not linked yet' });
  const email = verifiedEmail(connection, identity);
  if (email.kind === 'refused') return email;
  let user = await userOfEmail(sql, email.fold, seen, steps);
  if (!user && connection.makesUsers) {
    // Another tab of the same person may have been slightly faster.
    await lockLoginNames(sql);
    const meanwhile = await linkedUser(sql, connection, identity, seen, steps);
    if (meanwhile) return meanwhile;
    user = await userOfEmail(sql, email.fold, seen, steps);
    if (!user) {
      const made = await makeUser(sql, connection, identity, email.email, { address, now });
      if ('reason' in made) return made;
      steps.push({ step: 'user', outcome: `${made.username} was created` });
      user = made;
    }
  }
  steps.push({ step: 'email', outcome: user ? `belongs to ${user.username}` : 'no user has it' });
  const match = ofCustomer(user, connection);
  if (match.kind === 'refused') return match;
  const link = { connectionId: connection.id, subject: identity.subject, userId: match.user.id, now };
  if (await insertSsoSubject(sql, link)) return match;
  if ((await findUserOfSubject(sql, connection.id, identity.subject)) === match.user.id) return match;
  return {
    kind: 'refused',
    reason: 'other-subject',
    words: `vestibule connection unlink ${connection.key} ${match.user.username} allows the new subject`,
    user: match.user,
  };
}

/** The user linked with the subject, or null if there is none. */
async function linkedUser(
  sql: Connection,
  connection: SsoConnection,
  identity: Identity,
  seen: { customerId: string; address: string },
  steps: AuditStep[],
): Promise<Match | null> {
  const id = await findUserOfSubject(sql, connection.id, identity.subject);
  if (id === null) return null;
  const user = await findSsoUserForShare(sql, { id }, seen);
  steps.push({ step: 'subject', outcome: `linked to ${user?.username ?? 'a user who is gone'}` });
  const match = ofCustomer(user, connection);
  return match.kind === 'ok' ? ((await otherUser(sql, connection, identity, match.user)) ?? match) : match;
}

/**
 * The refusal of a subject whose verified address belongs to another user of the customer: it may have been linked by
 * an answer that was forged while the provider was compromised (docs/decisions/0019). Null if it belongs to nobody
 * else.
 */
async function otherUser(
  sql: Connection,
  connection: SsoConnection,
  identity: Identity,
  user: SsoUser,
): Promise<Match | null> {
  const email = verifiedEmail(connection, identity);
  const other = email.kind === 'ok' ? await findMemberByName(sql, email.fold, connection.customerId) : null;
  if (email.kind === 'refused' || !other || other.id === user.id || foldLoginName(other.email) !== email.fold)
    return null;
  const undo = `vestibule connection unlink ${connection.key} ${user.username}`;
  return {
    kind: 'refused',
    reason: 'other-user',
    words: `${other.email} is the email of ${other.username}; if the link is wrong, ${undo} undoes it`,
    user,
  };
}

/**
 * The user who has the address as their email. Usernames share one space with addresses and may look like one: a
 * provider vouches for its addresses, not for usernames.
 */
async function userOfEmail(
  sql: Connection,
  fold: string,
  seen: { customerId: string; address: string },
  steps: AuditStep[],
): Promise<SsoUser | null> {
  const user = await findSsoUserForShare(sql, { fold }, seen);
  if (!user || foldLoginName(user.email) === fold) return user;
  steps.push({ step: 'email', outcome: `is the username of ${user.username}, who has another email` });
  return null;
}

function ofCustomer(user: SsoUser | null, { customerKey }: SsoConnection): Match {
  if (!user) return refusalFor('unknown-user', 'nobody has the address');
  if (user.customer) return { kind: 'ok', user };
  return { kind: 'refused', reason: 'unknown-user', words: `${user.username} is not a user of ${customerKey}`, user };
}

/**
 * Creates a user with the rights the provider gives and no password (decisions §9: just-in-time creation). The names
 * are locked.
 */
async function makeUser(
  sql: Connection,
  { key, customerId, customerKey, domains }: SsoConnection,
  identity: Identity,
  email: string,
  { address, now }: { address: string; now: Date },
): Promise<SsoUser | Refusal> {
  const username = readUsername(identity.username ?? email);
  if (username.kind === 'refused') return refusalFor('name-taken', username.problem);
  const domain = domainOfAddress(username.value);
  // Addresses are sign-in names too: the name may not be an address of another domain.
  if (username.value.includes('@') && !(domain !== null && domains.includes(domain)))
    return refusalFor('foreign-domain', `username: an address of ${domain ?? 'no domain'}`);
  const user = { username: username.value, email };
  const taken = await takenField(sql, user, null);
  if (taken) return refusalFor('name-taken', `${taken}: ${user[taken]} belongs to someone else`);
  const language = languageOfTag(identity.language ?? '');
  const id = await insertUser(
    sql,
    { ...user, passwordHash: null, active: true, mayChangePassword: false, language },
    now,
  );
  await updateLoginNames(sql, id, foldsOfUser(user));
  await updateMemberships(sql, id, [customerKey]);
  const steps = [{ step: 'made by', outcome: `connection ${key}` }];
  await insertAuditEvent(
    sql,
    { event: 'user-added', userId: id, username: user.username, customerKey, connection: key, steps },
    now,
  );
  return (await findSsoUserForShare(sql, { id }, { customerId, address })) as SsoUser;
}
