import { customerPath, type DeskAct, deskFields, deskUrl } from '#contract/desk.ts';
import { languageOfTag } from '#contract/languages.ts';
import { signOutUser, unlockUser } from '../accounts/act-on-user.ts';
import { inviteUsers } from '../accounts/invite-users.ts';
import { keepTwoFactor, resetTwoFactor, resetTwoFactorLater } from '../accounts/reset-two-factor.ts';
import { type ChangeOfUser, changeUser } from '../accounts/users.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { whoseEvent } from '../audit/audit-events.ts';
import type { Deps } from '../deps.ts';
import { readDisplayName, readEmail, readShortName } from '../names/read-name.ts';
import { isWithin, readGroups, splitGroups } from '../people/groups.ts';
import { issueResetLink } from '../sign-in/reset-link.ts';
import { type Act, type Asked, accepted, done, type Fields, Refused } from './desk-page.ts';
import type { FoundPerson } from './find-person.ts';
import { type Actor, mayGive } from './may-act.ts';

/** What the forms of a person's page do, by the functions that commands call too. */
export const personActs: Partial<Record<DeskAct, Act<FoundPerson>>> = {
  liftWait: async (_deps, { desk }, { username }) => done(await unlockUser(desk.sql, username, desk.by)),
  sendLink: async ({ keys }, { desk: { sql, by } }, { username, hasPassword }) =>
    done(await (hasPassword ? issueResetLink(sql, username, by, keys) : inviteUsers(sql, keys, [username], by))),
  resetFactor: async (_deps, { desk: { sql, actor, by } }, { username }, { when }) => {
    const isNow = actor.role === 'operator' && when === 'now';
    return done(await (isNow ? resetTwoFactor(sql, username, by) : resetTwoFactorLater(sql, username, by)));
  },
  keepFactor: async (_deps, { desk }, { username }) => done(await keepTwoFactor(desk.sql, username, desk.by)),
  endSessions,
  change: changed((_found, { name = '', email = '', language = '' }) => ({
    name: name.trim() === '' ? null : accepted(readDisplayName(name), 'name'),
    email: accepted(readEmail(email), 'email'),
    language: languageOfTag(language),
  })),
  groups: changed(({ customers }, { groups = '' }) => {
    const keys = customers.map(({ key }) => key);
    const typed = groups.trim() === '' ? [] : accepted(readGroups(splitGroups(groups)), 'groups');
    if (typed.some((group) => !isWithin(group, keys))) throw new Refused('entryRefused', 'groups');
    return { groups: (current) => [...current.filter((group) => !isWithin(group, keys)), ...typed] };
  }),
  customers: async (deps, asked, found, fields) => {
    const { scope } = asked.desk;
    if (scope === null) return await belongTo(deps, asked, found, fields);
    await leave(deps, asked, found, fields);
    // To whoever looks after that customer alone, the person is gone.
    const query = { [deskFields.done]: asked.desk.by.reference };
    return { to: deskUrl(deps.config.basePath, customerPath(fields.customer ?? ''), query) };
  },
  administer: changed((found, { customer, administers }) => {
    const key = ownKey(found, customer);
    const added = administers === 'on' ? [key] : [];
    return { administers: (current) => [...current.filter((one) => one !== key), ...added] };
  }),
  role: changed((_found, { role: typed }, actor) => {
    const role = typed === 'operator' || typed === 'support' ? typed : null;
    if (!mayGive(actor, role)) throw new Refused('notPossible');
    return { role };
  }),
  activate: changed(() => ({ active: true })),
  deactivate: changed(() => ({ active: false })),
};

/** Which customers support has a person belong to. */
const belongTo = changed((_found, { customers = '' }) => {
  const keys = customers.split(/[\s,]+/).filter((key) => key !== '');
  for (const key of keys) accepted(readShortName(key), 'customers');
  return { customers: () => keys };
});

/** The customer of an administrator that a person leaves. */
const leave = changed((found, { customer }) => {
  const key = ownKey(found, customer);
  return { customers: (current) => current.filter((one) => one !== key) };
});

function ownKey({ customers }: FoundPerson, asked: string | undefined): string {
  const own = customers.find(({ key }) => key === asked);
  if (!own) throw new Refused('entryRefused', 'customers');
  return own.key;
}

/** Ends a person's sessions; of one with other customers, those for the customers of whoever asks. */
async function endSessions(_deps: Deps, { desk }: Asked, found: FoundPerson) {
  if (!found.isForeign) return done(await signOutUser(desk.sql, found.username, desk.by));
  const { now, ...who } = desk.by;
  await desk.sql.begin(async (sql) => {
    const [row] = await sql<[{ ended: number }]>`select end_desk_sessions(${found.id}) as ended`;
    const steps = [{ step: 'sessions ended', outcome: String(row.ended) }];
    await insertAuditEvent(sql, { event: 'user-signed-out', ...whoseEvent(found), steps, ...who }, now);
  });
  return 'done' as const;
}

/** An act that changes what operators set for a user, as its fields say. */
function changed(changeOf: (found: FoundPerson, fields: Fields, actor: Actor) => ChangeOfUser) {
  return async (_deps: Deps, { desk: { sql, actor, by } }: Asked, found: FoundPerson, fields: Fields) => {
    const seen = fields[deskFields.seen] ?? '';
    return done(await changeUser(sql, found.username, changeOf(found, fields, actor), { ...by, seen }));
  };
}
