import { changeFailedReasons } from '#contract/reasons.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { customersOfEvent } from '../audit/audit-events.ts';
import type { RelyingParty } from '../config/public-url.ts';
import { tokenHash } from '../crypto/token.ts';
import { RollBack } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { insertPasskey, providerName } from '../factors/passkey.ts';
import { beginCeremony, creationOptions, refusePasskey, waitOfPasskeys } from '../factors/passkey-ceremony.ts';
import type { EnrolledKey } from '../factors/take-passkey.ts';
import { takeEnrolment } from '../factors/take-passkey.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { browserName, passkeyName } from '../names/read-name.ts';
import { lockUser } from '../people/portal-user.ts';
import { placeOfVisitor, type Visitor } from '../sessions/visitor.ts';
import { passwordReplaced } from './change-password.ts';
import {
  type LinkResult,
  linkOf,
  type OpenLink,
  readLink,
  refusalOfLink,
  refuseLink,
  stepsOfLink,
} from './read-link.ts';
import { spendResetLink } from './reset-link.ts';

/** A visitor with the link of an invitation; `token` as it was sent. */
type Invited = { visitor: Visitor; token: string };

/**
 * Begins the enrolment of an invited user's first passkey in this browser. Returns the options for the authenticator, `closed` for
 * a link that makes no passkey, or until when the address has to wait.
 */
export async function beginPasskeyByLink(
  deps: Deps,
  { id }: RelyingParty,
  { visitor, token }: Invited,
  browserToken: string,
): Promise<
  | { kind: 'begun'; options: ReturnType<typeof creationOptions> }
  | { kind: 'closed' }
  | { kind: 'throttled'; until: Date }
> {
  const { link, refusal } = await readLink(deps, { ...visitor, token }, 'passkey');
  if (refusal) return typeof refusal === 'object' ? { kind: 'throttled', ...refusal } : { kind: 'closed' };
  const challenge = await beginCeremony(deps, { purpose: 'invitation', browserToken, owner: token });
  const rp = { id, name: deps.config.brand.branding.name };
  return { kind: 'begun', options: creationOptions(challenge, rp, link.user, []) };
}

/**
 * Stores the first passkey of an invited user and uses up their link. A new passkey ends the same sessions and browsers as a new
 * password. Nobody is signed in: the person does that with the passkey.
 */
export async function addPasskeyByLink(
  deps: Deps,
  rp: RelyingParty,
  { visitor, token }: Invited,
  answer: string,
): Promise<LinkResult> {
  const holder = { ...visitor, token };
  const { link, refusal } = await readLink(deps, holder, 'passkey');
  if (refusal) return await refuseLink(deps, holder, { link, refusal });
  const wait = await waitOfPasskeys(deps, visitor, link.user);
  if (wait) return { kind: 'throttled', ...wait };

  const steps = stepsOfLink(link, deps.now());
  const { passkeyToken: browserToken } = visitor;
  const taken = await takeEnrolment(deps, rp, { purpose: 'invitation', browserToken, owner: token, answer }, steps);
  const added =
    taken.kind === 'refused'
      ? taken.reason
      : await store(deps, rp, { visitor, token }, { user: link.user, key: taken.key });
  if (added === 'added') return { kind: 'changed', purpose: 'invitation', username: link.user.username };
  if (added === 'outrun') {
    const now = await readLink(deps, holder, 'passkey');
    const refusal = now.refusal ?? changeFailedReasons.requestExpired;
    return await refuseLink(deps, holder, { link: now.link, refusal });
  }
  const refused = { event: 'passkey-not-added', reason: added, steps, user: link.user } as const;
  const reference = await refusePasskey(deps, visitor, refused);
  return { kind: 'refused', purpose: 'invitation', reason: null, reference };
}

/** Stores all or nothing. `outrun`: the link or the account was changed while the answer was checked. */
async function store(
  deps: Deps,
  rp: RelyingParty,
  { visitor, token }: Invited,
  { user, key }: Pick<OpenLink, 'user'> & { key: EnrolledKey },
): Promise<'added' | 'outrun' | 'already-enrolled'> {
  const { address, userAgent, requestId } = visitor;
  const { id: userId, username, customers } = user;
  const now = deps.now();
  const stored = await deps.sql.begin(async (sql) => {
    await lockUser(sql, userId);
    const link = await linkOf(deps, sql, { token, address });
    if (refusalOfLink(link, now, 'passkey') || !(await spendResetLink(sql, tokenHash(token), now)))
      return new RollBack('outrun' as const);
    const name = (providerName(key.aaguid) ?? browserName(userAgent) ?? 'Passkey').slice(0, passkeyName);
    const id = await insertPasskey(sql, { ...key, userId, rpId: rp.id, name, now });
    if (!id) return new RollBack('already-enrolled' as const);
    const sessionsEnded = await passwordReplaced(sql, userId, { hashBefore: null, now });
    await queueMail(sql, user, { kind: 'passkeyAdded', now, ...placeOfVisitor(visitor), passkey: name });
    const steps = [
      { step: 'passkey', outcome: `${id}, ${name}` },
      { step: 'sessions ended', outcome: String(sessionsEnded) },
    ];
    const who = { userId, username, ...customersOfEvent(customers), address, requestId };
    await insertAuditEvent(sql, { event: 'invitation-used', ...who, steps }, now);
    return 'added' as const;
  });
  if (stored === 'added') deps.wake.mails();
  return stored;
}
