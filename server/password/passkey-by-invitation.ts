import { type ChangeFailedReason, changeFailedReasons } from '#contract/reasons.ts';
import { type AuditStep, customersOfEvent } from '../audit/audit-events.ts';
import type { PasskeyRefusalReason } from '../audit/passkey-reasons.ts';
import type { RelyingParty } from '../config/relying-party.ts';
import type { Deps } from '../deps/deps.ts';
import { placeOfVisitor, queueMail } from '../mail/queue-mail.ts';
import { browserName } from '../names/browser-name.ts';
import { passkeyName } from '../names/read-name.ts';
import { beginCeremony, creationOptions, takeCeremony } from '../passkeys/ceremony.ts';
import { checkEnrolment, type EnrolledKey } from '../passkeys/check-enrolment.ts';
import { providerName } from '../passkeys/provider-name.ts';
import { readClientData, readEnrolment } from '../passkeys/read-answer.ts';
import { refusePasskey, waitOfPasskeys } from '../passkeys/refuse-passkey.ts';
import { tokenHash } from '../secrets/token.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection } from '../storage/database.ts';
import { RollBack } from '../storage/database.ts';
import { insertPasskey } from '../storage/passkey.ts';
import { findActiveUserForChange } from '../storage/portal-user.ts';
import { findResetLink, type ResetLink, type ResetUser, spendResetLink } from '../storage/reset-link.ts';
import { countAttempt } from '../storage/throttle.ts';
import { unknownLinkKeys } from '../storage/throttle-keys.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import type { LinkFormResult } from './answer-link-form.ts';
import { linkOf, throttled } from './change-password.ts';
import { refusalOfAccount, refusalOfLink, stepsOfLink } from './link-refusal.ts';
import { passwordReplaced } from './password-replaced.ts';

/** Whoever has the link of an invitation open; `token` as sent. */
export type Invited = { visitor: KnownVisitor; token: string };

type Refusal = { reason: PasskeyRefusalReason; shown: ChangeFailedReason | null };
type Opened = { kind: 'open'; user: ResetUser } | { kind: 'refused'; link: ResetLink | null; refusal: Refusal };

/**
 * Begins the passkey of an invitation, for whoever has its link open, in this browser; returns what the browser is told, or
 * `closed` for a link that makes no passkey. `throttled`: until when the address has to wait.
 */
export async function beginByInvitation(
  deps: Deps,
  { id }: RelyingParty,
  { visitor, token }: Invited,
  browserToken: string,
): Promise<
  | { kind: 'begun'; options: ReturnType<typeof creationOptions> }
  | { kind: 'closed' }
  | { kind: 'throttled'; until: Date }
> {
  const opened = openedBy(await linkOf(deps, { token, address: visitor.address }), deps.now());
  if (opened.kind === 'refused') {
    const until = opened.link ? null : await countAttempt(deps.sql, unknownLinkKeys(visitor.address), deps.now());
    return until ? { kind: 'throttled', until } : { kind: 'closed' };
  }
  const ceremony = { purpose: 'invitation', sessionId: null, linkHash: tokenHash(token) } as const;
  const challenge = await beginCeremony(deps, browserToken, ceremony);
  const rp = { id, name: deps.config.brand.branding.name };
  return { kind: 'begun', options: creationOptions(challenge, rp, opened.user, []) };
}

/**
 * Stores the first passkey of an invited user, and consumes their link; or nothing. It ends what a password from the link
 * ends, and signs nobody in (docs/decisions/0055).
 */
export async function addByInvitation(
  deps: Deps,
  rp: RelyingParty,
  { visitor, token }: Invited,
  answer: string,
): Promise<LinkFormResult> {
  const { address } = visitor;
  const link = await linkOf(deps, { token, address });
  const until = link ? null : await countAttempt(deps.sql, unknownLinkKeys(address), deps.now());
  if (until) return await throttled(deps, visitor, until);
  const wait = await waitOfPasskeys(deps, visitor, link?.user ?? undefined);
  if (wait) return { kind: 'throttled', ...wait };
  const steps = stepsOfLink(link, deps.now());
  const opened = openedBy(link, deps.now());
  const done =
    opened.kind === 'open' ? await complete(deps, rp, { visitor, token, answer, user: opened.user }, steps) : opened;
  if (done.kind === 'changed') {
    deps.wake.mails();
    return done;
  }
  const { reason, shown } = done.refusal;
  // Only what an authenticator answers is a try at one.
  const refused = { event: 'passkey-not-added', reason, steps, user: link?.user ?? undefined } as const;
  const reference = await refusePasskey(deps, visitor, {
    ...refused,
    isSigned: shown !== null || reason === 'network',
  });
  if (reason === 'network') return { kind: 'networkRefused', reference };
  return { kind: 'refused', reason: shown, reference };
}

const { changeFailed, userNotFound, inactiveUser, noCustomer } = changeFailedReasons;

/** Whether a link makes a passkey: an invitation that is open, for somebody who may have one from this address. */
function openedBy(link: ResetLink | null, now: Date): Opened {
  const refused = (reason: PasskeyRefusalReason, shown: ChangeFailedReason | null): Opened => ({
    kind: 'refused',
    link,
    refusal: { reason, shown },
  });
  const ofLink = refusalOfLink(link, now) ?? (link?.purpose === 'invitation' ? null : changeFailed);
  if (ofLink) return refused('invitation-over', ofLink);
  const user = link?.user ?? null;
  const ofAccount = refusalOfAccount(user, 'passkey');
  if (ofAccount) return refused(reasonOf(ofAccount, user), ofAccount);
  if (!user?.customers.some(({ admits }) => admits)) return refused('network', null);
  return { kind: 'open', user };
}

function reasonOf(reason: ChangeFailedReason, user: ResetUser | null): PasskeyRefusalReason {
  if (reason === userNotFound) return 'invitation-over';
  if (reason === inactiveUser) return 'inactive';
  if (reason === noCustomer) return 'no-customer';
  if (user?.ssoRequired) return 'single-sign-on-required';
  return user?.passkeyTaken ? 'may-not-choose' : 'passkeys-off';
}

type Done = { kind: 'changed' } | { kind: 'refused'; refusal: Refusal };

const refused = (reason: PasskeyRefusalReason): Done => ({ kind: 'refused', refusal: { reason, shown: null } });

async function complete(
  deps: Deps,
  rp: RelyingParty,
  { answer, ...invited }: Invited & { answer: string; user: ResetUser },
  steps: AuditStep[],
): Promise<Done> {
  const enrolment = readEnrolment(answer);
  const clientData = enrolment && readClientData(enrolment.clientData);
  if (!enrolment || !clientData) return refused('malformed');
  const { passkeyToken: browserToken } = invited.visitor;
  const ceremony = await takeCeremony(deps, clientData, { browserToken, purpose: 'invitation' }, steps);
  if (!ceremony) return refused('challenge-unknown');
  if (!ceremony.linkHash?.equals(tokenHash(invited.token))) {
    steps.push({ step: 'challenge', outcome: 'begun by another link' });
    return refused('challenge-unknown');
  }
  const checked = await checkEnrolment({ enrolment, clientData }, rp, steps);
  if (checked.kind === 'refused') return refused(checked.reason);
  return await deps.sql.begin((sql) => store(deps, sql, rp, { ...invited, key: checked.key }, steps));
}

/** All or nothing; the user is locked first, as by every change of one, and looked at again. */
async function store(
  deps: Deps,
  sql: Connection,
  rp: RelyingParty,
  { visitor, token, user: { id: userId }, key }: Invited & { user: ResetUser; key: EnrolledKey },
  steps: AuditStep[],
): Promise<Done | RollBack<Done>> {
  const { address, userAgent, requestId } = visitor;
  const now = deps.now();
  const reader = await findActiveUserForChange(sql, userId);
  const opened = openedBy(reader && (await findResetLink(sql, tokenHash(token), { address, rpId: rp.id })), now);
  if (!reader || opened.kind === 'refused' || !(await spendResetLink(sql, tokenHash(token), now))) {
    steps.push({ step: 'link', outcome: 'over by now, or the account was changed while the answer was checked' });
    const over = { reason: 'invitation-over', shown: changeFailedReasons.requestExpired } as const;
    return new RollBack<Done>({ kind: 'refused', refusal: opened.kind === 'refused' ? opened.refusal : over });
  }
  const name = (providerName(key.aaguid) ?? browserName(userAgent) ?? 'Passkey').slice(0, passkeyName);
  const id = await insertPasskey(sql, { ...key, userId, rpId: rp.id, name, now });
  if (!id) return new RollBack(refused('already-enrolled'));
  const sessionsEnded = await passwordReplaced(sql, userId, null, now);
  await queueMail(sql, reader, { kind: 'passkeyAdded', now, ...placeOfVisitor(visitor), passkey: name });
  const made = [
    { step: 'passkey', outcome: `${id}, ${name}` },
    { step: 'sessions ended', outcome: String(sessionsEnded) },
  ];
  const { username, customers } = opened.user;
  const who = { userId, username, ...customersOfEvent(customers), address, requestId };
  await insertAuditEvent(sql, { event: 'invitation-used', ...who, steps: made }, now);
  return { kind: 'changed' };
}
