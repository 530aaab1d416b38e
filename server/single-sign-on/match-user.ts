import { languageOfTag } from '#contract/languages.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import type { Connection } from '../database/database.ts';
import {
  canonicalDomain,
  domainOfAddress,
  foldLoginName,
  readDisplayName,
  readEmail,
  readUsername,
} from '../names/read-name.ts';
import { updateMemberships } from '../people/customer.ts';
import { mostGroups, readGroupName, updateGroupsAt } from '../people/groups.ts';
import {
  foldsOfUser,
  insertUser,
  lockLoginNames,
  takenField,
  updateLoginNames,
  updateNameOfOnly,
} from '../people/portal-user.ts';
import { findSsoUser, type SsoUser } from '../people/sign-in-user.ts';
import { type Identity, providerWords, type Refusal, refusalFor } from './provider-answer.ts';
import type { SsoConnection } from './sso-connection.ts';

type Match = { kind: 'ok'; user: SsoUser } | (Refusal & { user?: SsoUser });

/**
 * Finds the user a provider means: the one linked with the subject; on first use the one with the
 * verified address, who is then linked; otherwise a new one, if the connection creates users. Only users of the
 * connection's own customer qualify. Adds steps as they are taken. The caller may roll back.
 */
export async function matchUser(
  sql: Connection,
  connection: SsoConnection,
  { subject, ...said }: Identity,
  { address, now, steps }: { address: string; now: Date; steps: AuditStep[] },
): Promise<Match> {
  const { id: connectionId, customerId } = connection;
  const find = async (by: Parameters<typeof findSsoUser>[1]) => await findSsoUser(sql, by, { customerId, address });
  const linked = await find({ connectionId, subject });
  steps.push({
    step: 'subject',
    outcome: linked ? `linked to ${linked.username}` : `${providerWords(subject)} is not linked yet`,
  });
  if (linked) return ofCustomer(linked, connection);
  steps.push({ step: 'email', outcome: said.emails.slice(0, mostNames).map(providerWords).join(', ') || 'none' });
  const email = verifiedEmail(connection, said);
  if (email.kind === 'refused') return email;
  let user = await find({ fold: email.fold });
  if (!user && connection.makesUsers) {
    await lockLoginNames(sql);
    // Another sign-in of the same person may have been slightly faster.
    user = await find({ fold: email.fold });
    if (!user) {
      const made = await makeUser(sql, connection, said, { email: email.email, now });
      if (made.kind === 'refused') return made;
      user = await find(made);
      steps.push({ step: 'user', outcome: `${user?.username} was created` });
    }
  }
  // Usernames share one space with addresses and may look like one: a provider vouches for its addresses only.
  const isTheirs = user && foldLoginName(user.email) === email.fold;
  if (user && !isTheirs)
    steps.push({ step: 'email', outcome: `is the username of ${user.username}, who has another email` });
  const match = ofCustomer(isTheirs ? user : null, connection);
  if (match.kind === 'refused') return match;
  steps.push({ step: 'email', outcome: `belongs to ${match.user.username}` });
  // Not if the subject is another user's, or the user has another subject there.
  await sql`
    insert into sso_subject (connection_id, subject, user_id, linked_at)
    values (${connectionId}, ${subject}, ${match.user.id}, ${now}) on conflict do nothing`;
  const ofUser = await sql`
    select from sso_subject where connection_id = ${connectionId} and subject = ${subject} and user_id = ${match.user.id}`;
  if (ofUser.length > 0) return match;
  const words = `vestibule connection unlink ${connection.key} ${match.user.username} allows the new subject`;
  return { kind: 'refused', reason: 'other-subject', words, user: match.user };
}

/**
 * Takes over how a person is shown and what they belong to, where the operator said which values tell it. A provider speaks
 * for its own customer: it names no groups of another, and not whom another knows by a name.
 */
export async function takeNameAndGroups(
  sql: Connection,
  { customerId }: SsoConnection,
  { user, said, steps }: { user: SsoUser; said: Pick<Identity, 'name' | 'groups'>; steps: AuditStep[] },
): Promise<void> {
  const name = said.name === null ? null : readDisplayName(said.name);
  if (name?.kind === 'ok' && (await updateNameOfOnly(sql, user.id, customerId, name.value)))
    steps.push({ step: 'name', outcome: name.value });
  if (said.groups === null) return;
  const readable = said.groups.map(readGroupName).flatMap((one) => (one.kind === 'ok' ? one.value : []));
  const groups = [...new Set(readable)].slice(0, mostGroups).sort();
  await updateGroupsAt(sql, { userId: user.id, customerId }, groups);
  steps.push({ step: 'groups', outcome: `${groups.length} of ${said.groups.length}` });
}

/**
 * The email address by which a subject may be linked: of a domain that the connection vouches for, and
 * verified. An ambiguous one finds nobody: stored addresses have one form, and only case may differ.
 */
function verifiedEmail(
  connection: SsoConnection,
  identity: Omit<Identity, 'subject'>,
): { kind: 'ok'; email: string; fold: string } | Refusal {
  const { emails, sent } = identity;
  const [email, another] = emails;
  const remedy = `name the field with --map email=…; it sends ${sent.slice(0, mostNames).map(providerWords).join(', ')}`;
  if (another)
    return refusalFor('unknown-user', `the provider sends several email addresses; have it send one, or ${remedy}`);
  if (!email) return refusalFor('unknown-user', `the provider sends no email address; ${remedy}`);
  const reading = readEmail(email);
  if (reading.kind === 'refused')
    return refusalFor('unknown-user', `the provider sends an invalid email address (${reading.problem})`);
  if (reading.value.toLowerCase() !== email.toLowerCase())
    return refusalFor('unknown-user', 'the provider sends an address in an unusual form');
  const domain = canonicalDomain(reading.value.slice(reading.value.indexOf('@') + 1));
  if (!connection.domains.includes(domain)) return refusalFor('foreign-domain', domain);
  if (!identity.emailVerified && !connection.trustsEmail)
    return refusalFor('unverified-email', 'neither the provider nor the operator says that the address is verified');
  return { kind: 'ok', email: reading.value, fold: foldLoginName(reading.value) };
}

/** Of claims and attributes, in one line for operators. */
const mostNames = 50;

function ofCustomer(user: SsoUser | null, { key, customerKey }: SsoConnection): Match {
  if (!user)
    return refusalFor(
      'unknown-user',
      `nobody has the address: add them (vestibule user add), or have people added (vestibule connection set ${key} --jit on)`,
    );
  if (user.customer) return { kind: 'ok', user };
  return { kind: 'refused', reason: 'unknown-user', words: `${user.username} is not a user of ${customerKey}`, user };
}

/**
 * Creates a user with the rights the provider gives and no password (just-in-time creation). The names
 * are locked.
 */
async function makeUser(
  sql: Connection,
  { key, customerKey, domains }: SsoConnection,
  said: Pick<Identity, 'username' | 'language'>,
  { email, now }: { email: string; now: Date },
): Promise<{ kind: 'made'; id: string } | Refusal> {
  const username = readUsername(said.username ?? email);
  if (username.kind === 'refused') return refusalFor('name-taken', username.problem);
  const domain = domainOfAddress(username.value);
  // Addresses are sign-in names too: the name may not be an address of another domain.
  if (username.value.includes('@') && !(domain !== null && domains.includes(domain)))
    return refusalFor('foreign-domain', `username: an address of ${domain ?? 'no domain'}`);
  const user = { username: username.value, email };
  const taken = await takenField(sql, user, null);
  if (taken) return refusalFor('name-taken', `${taken}: ${user[taken]} belongs to someone else`);
  const language = languageOfTag(said.language ?? '');
  const id = await insertUser(
    sql,
    { ...user, passwordHash: null, active: true, mayChangePassword: false, language },
    now,
  );
  await updateLoginNames(sql, id, foldsOfUser(user));
  await updateMemberships(sql, id, { customers: [customerKey] });
  const steps = [{ step: 'made by', outcome: `connection ${key}` }];
  await insertAuditEvent(
    sql,
    { event: 'user-added', userId: id, username: user.username, customerKey, connection: key, steps },
    now,
  );
  return { kind: 'made', id };
}
