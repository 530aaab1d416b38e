import type { AccountView } from '#contract/account.ts';
import { accountUrl } from '#contract/account.ts';
import { languageOfTag } from '#contract/languages.ts';
import { queryNames } from '#contract/screens.ts';
import { keepTwoFactor, pendingResets } from '../accounts/reset-two-factor.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { Deps } from '../deps.ts';
import { listPasskeys } from '../factors/passkey.ts';
import { day } from '../limits.ts';
import { updateUser } from '../people/portal-user.ts';
import { type AccountVisit, personOf } from './account-visit.ts';
import { stateOfPassword } from './password.ts';
import { changeAccount, type Fields, type Outcome, type Section } from './section.ts';
import { listSessions, listSignIns } from './sessions.ts';

/** Who is signed in, and what there is to look after. */
export const overview: Section = {
  name: 'overview',
  kept: ['language'],
  actions: { language: { needsProof: false, run: chooseLanguage }, keepFactor: { needsProof: false, run: keepFactor } },
  view: viewOf,
};

async function viewOf(deps: Deps, visit: AccountVisit): Promise<Extract<AccountView, { name: 'overview' }>> {
  const { session, account } = visit;
  const passkeys = account.isPart ? [] : await listPasskeys(deps.sql, session.userId);
  return {
    name: 'overview',
    email: session.email,
    displayName: session.name,
    // Those whose networks admit the person here.
    customers: account.customers.filter(({ key }) => session.customers.includes(key)).map(({ name }) => name),
    groups: session.groups,
    isPart: account.isPart,
    hasDesk: account.hasDesk && !account.isPart,
    language: languageOfTag(session.language ?? ''),
    isPasswordOpen: stateOfPassword(visit) === 'open',
    passkeys: passkeys.map(({ name }) => name),
    appSince: account.appSince,
    recoveryCodesLeft: account.recoveryCodesLeft,
    devices: account.rememberedDevices,
    sessions: await listSessions(deps, visit),
    signIns: await listSignIns(deps, visit),
    ...(account.isPart ? { support: [], resetAt: null } : await findSupport(deps, session.userId)),
  };
}

/** The last that others did to an account within thirty days, and the reset that is ahead, of which that tells. */
async function findSupport({ sql, now }: Deps, userId: string) {
  const rows = await sql<{ at: Date; event: string; resetAt: Date | null }[]>`
    select at, event, (select made_at from job where queue = ${pendingResets} and user_id = ${userId}) as "resetAt"
    from audit_event
    where user_id = ${userId} and actor <> 'user:' || username and at > ${new Date(now().getTime() - 30 * day)}
    order by id desc limit 3`;
  return { support: rows, resetAt: rows[0]?.resetAt ?? null };
}

async function keepFactor(deps: Deps, visit: AccountVisit): Promise<Outcome> {
  const { actor = '', requestId, address } = personOf(visit);
  const by = { actor, requestId, ...(address && { address }), now: deps.now() };
  const isKept = await keepTwoFactor(deps.sql, visit.session.username, by);
  return isKept ? { kind: 'done', notice: 'factorKept' } : { kind: 'refused', notice: 'changedMeanwhile' };
}

/** Sets the language of emails and of the hub, and shows the page in it. It changes nothing about how they sign in: no mail. */
async function chooseLanguage(deps: Deps, visit: AccountVisit, { language: chosen = '' }: Fields): Promise<Outcome> {
  const language = languageOfTag(chosen);
  if (language === null) return { kind: 'refused', notice: 'notPossible' };
  const { userId } = visit.session;
  const now = deps.now();
  const query = { [queryNames.notice]: 'languageChosen', [queryNames.language]: language };
  const done = { kind: 'done', to: accountUrl(deps.config.basePath, 'overview', query) } as const;
  return await changeAccount(deps, visit, async (sql, person) => {
    if (person.language === language) return done;
    await updateUser(sql, userId, { language });
    const steps = [{ step: 'language', outcome: `${person.language ?? 'of the browser'} → ${language}` }];
    await insertAuditEvent(sql, { event: 'language-chosen', ...personOf(visit), steps }, now);
    return done;
  });
}
