import type { AuditStep } from '../audit/audit-events.ts';
import type { PasskeyRefusalReason } from '../audit/passkey-reasons.ts';
import type { RelyingParty } from '../config/relying-party.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { browserName } from '../names/browser-name.ts';
import { passkeyName } from '../names/read-name.ts';
import { beginCeremony, type Ceremony, creationOptions } from '../passkeys/ceremony.ts';
import type { EnrolledKey } from '../passkeys/check-answer.ts';
import { providerName } from '../passkeys/provider-name.ts';
import { refusePasskey } from '../passkeys/refuse-passkey.ts';
import { takeEnrolment } from '../passkeys/take-passkey.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { RollBack } from '../storage/database.ts';
import { deleteHalfSessionsOfUser } from '../storage/half-session.ts';
import { countPasskeys, insertPasskey, listCredentials } from '../storage/passkey.ts';
import { canOpenByPasskey } from '../storage/passkey-user.ts';
import { findMayChangeFactors } from '../two-factor/may-change-factors.ts';
import { type AccountVisit, personForChange, personOf, placeOf } from './account-visit.ts';

const ceremonyOf = ({ visitor, session }: AccountVisit, browserToken = visitor.passkeyToken): Ceremony => ({
  purpose: 'enrol',
  browserToken,
  owner: session.id,
});

/** Begins an enrolment, on no device twice, in a session that has just proven who it is; returns what the browser is told. */
export async function beginEnrolment(deps: Deps, { id }: RelyingParty, visit: AccountVisit, browserToken: string) {
  const { userId, username } = visit.session;
  const challenge = await beginCeremony(deps, ceremonyOf(visit, browserToken));
  const known = await listCredentials(deps.sql, { userId, rpId: id });
  return creationOptions(challenge, { id, name: deps.config.brand.branding.name }, { id: userId, username }, known);
}

type Refused = { kind: 'refused'; reason: PasskeyRefusalReason };

/** Stores the passkey that an authenticator has made, or nothing; `reference`: of the event of the refusal. */
export async function enrol(
  deps: Deps,
  rp: RelyingParty,
  visit: AccountVisit,
  answer: string,
): Promise<{ kind: 'enrolled' } | { kind: 'refused'; reference: string }> {
  const steps: AuditStep[] = [];
  const { visitor, session } = visit;
  const taken = await takeEnrolment(deps, rp, { ...ceremonyOf(visit), answer }, steps);
  const done = taken.kind === 'refused' ? taken : await store(deps, rp, visit, taken.key, steps);
  if (done.kind === 'refused') {
    const user = { id: session.userId, username: session.username };
    const refused = { event: 'passkey-not-added', reason: done.reason, steps, user } as const;
    return { kind: 'refused', reference: await refusePasskey(deps, visitor, refused) };
  }
  deps.wake.mails();
  return done;
}

async function store(
  deps: Deps,
  rp: RelyingParty,
  visit: AccountVisit,
  key: EnrolledKey,
  steps: AuditStep[],
): Promise<{ kind: 'enrolled' } | Refused> {
  const { userId } = visit.session;
  const now = deps.now();
  const refused = (reason: PasskeyRefusalReason) => new RollBack<Refused>({ kind: 'refused', reason });
  return await deps.sql.begin(async (sql) => {
    const person = await personForChange(sql, visit);
    // A passkey counts for the whole account, so not every session may add one (docs/decisions/0019).
    if (!person || (await standingOf(deps, sql, visit)) !== 'open') return refused('session-over');
    if ((await countPasskeys(sql, userId)) >= limits.passkeysOfUser) return refused('too-many-passkeys');
    const name = providerName(key.aaguid) ?? browserName(visit.visitor.userAgent) ?? 'Passkey';
    const id = await insertPasskey(sql, { ...key, userId, rpId: rp.id, name: name.slice(0, passkeyName), now });
    if (!id) return refused('already-enrolled');
    await deleteHalfSessionsOfUser(sql, userId);
    await queueMail(sql, person, { kind: 'passkeyAdded', now, ...placeOf(visit), passkey: name });
    const made = [...steps, { step: 'passkey', outcome: `${id}, ${name}` }, { step: 'made', outcome: 'by the user' }];
    await insertAuditEvent(sql, { event: 'passkey-added', ...personOf(visit), steps: made }, now);
    return { kind: 'enrolled' as const };
  });
}

/** Whether a session may add a passkey, or why not: see `AccountView` (contract/account-page.ts). */
type EnrolStanding = 'open' | 'useless' | 'signInAgain' | 'elsewhere';

/**
 * Whether a session may add a passkey. One by a provider never: unlike an app, which only stands beside a way in, a passkey is
 * one, and would outlive the person's account at the provider. Where the session would have to sign in again for the code, the
 * fresh proof stands for that if there is an app, as it is a code of it then, or what counts as one (account/proof-to-ask.ts).
 */
export async function standingOf(
  deps: Pick<Deps, 'now'>,
  sql: Connection,
  { session, account }: AccountVisit,
): Promise<EnrolStanding> {
  if (session.connectionId !== null || !(await canOpenByPasskey(sql, session.userId))) return 'useless';
  const may = await findMayChangeFactors(deps, sql, session.id);
  if (may === 'may' || (may === 'signInAgain' && account.hasApp)) return 'open';
  return may === 'signInAgain' ? may : 'elsewhere';
}
