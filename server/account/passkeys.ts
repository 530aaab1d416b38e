import { customersOfEvent } from '../audit/audit-events.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { browserName } from '../names/browser-name.ts';
import { isUuid } from '../names/is-uuid.ts';
import { readPasskeyName } from '../names/read-name.ts';
import { userHandleOf } from '../passkeys/check-assertion.ts';
import { enrol as enrolPasskey, standingOf } from '../passkeys/enrol.ts';
import { providerName } from '../passkeys/provider-name.ts';
import { waitOfPasskeys } from '../passkeys/refuse-passkey.ts';
import { removePasskey } from '../passkeys/remove-passkey.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { listCredentials, listPasskeys, updatePasskeyName } from '../storage/passkey.ts';
import type { AccountVisit } from './account-visit.ts';
import { personOf } from './person-of-event.ts';
import type { Fields, Outcome, Section } from './section.ts';

/** The passkeys of the account: enrolled after a fresh proof, renamed, removed after one. */
export const passkeys: Section = {
  name: 'passkeys',
  kept: ['id', 'name'],
  view,
  actions: {
    enrol: { needsProof: true, run: enrol },
    rename: { needsProof: false, run: rename },
    remove: { needsProof: true, run: remove },
  },
};

async function view({ sql, config }: Deps, visit: AccountVisit) {
  const { session, account } = visit;
  const rp = config.passkeys;
  const { userId } = session;
  const found = account.isPart ? [] : await listPasskeys(sql, userId);
  const credentials = rp && !account.isPart ? await listCredentials(sql, { userId, rpId: rp.id }) : null;
  return {
    name: 'passkeys' as const,
    state: !rp ? ('off' as const) : account.isPart ? ('part' as const) : await standingOf(sql, visit),
    isFull: found.length >= limits.passkeysOfUser,
    passkeys: found.map(({ id, name, aaguid, backedUp, madeAt, lastUsedAt }) => ({
      ...{ id, name, backedUp },
      provider: providerName(aaguid),
      madeAt: madeAt.toISOString(),
      lastUsedAt: lastUsedAt?.toISOString() ?? null,
    })),
    known: rp &&
      credentials && {
        rpId: rp.id,
        userId: userHandleOf(userId).toString('base64url'),
        allAcceptedCredentialIds: credentials.map(({ credentialId }) => credentialId.toString('base64url')),
      },
  };
}

async function enrol(deps: Deps, visit: AccountVisit, { credential = '' }: Fields): Promise<Outcome> {
  const rp = deps.config.passkeys;
  if (!rp || visit.account.isPart) return { kind: 'refused', notice: 'notPossible' };
  const { userId: id, username } = visit.session;
  const wait = await waitOfPasskeys(deps, visit.visitor, { id, username });
  if (wait) return { kind: 'throttled', retryAfter: wait.retryAfter };
  const done = await enrolPasskey(deps, rp, visit, credential);
  return done.kind === 'enrolled'
    ? { kind: 'done', notice: 'passkeyAdded' }
    : { kind: 'refused', notice: 'passkeyRefused' };
}

async function rename(deps: Deps, visit: AccountVisit, { id = '', name = '' }: Fields): Promise<Outcome> {
  if (visit.account.isPart) return { kind: 'refused', notice: 'notPossible' };
  const reading = readPasskeyName(name);
  if (reading.kind === 'refused') return { kind: 'refused', notice: 'passkeyName' };
  const { userId } = visit.session;
  if (!isUuid(id)) return { kind: 'done', notice: 'passkeyGone' };
  const isThere = await deps.sql.begin(async (sql) => {
    if (!(await updatePasskeyName(sql, { id, userId, name: reading.value }))) return false;
    const steps = [{ step: 'passkey', outcome: `${id}, ${reading.value}` }];
    await insertAuditEvent(sql, { event: 'passkey-renamed', ...personOf(visit), steps }, deps.now());
    return true;
  });
  return { kind: 'done', notice: isThere ? 'passkeyRenamed' : 'passkeyGone' };
}

async function remove(deps: Deps, visit: AccountVisit, { id = '' }: Fields): Promise<Outcome> {
  if (visit.account.isPart) return { kind: 'refused', notice: 'notPossible' };
  const { session, visitor } = visit;
  const { address, requestId, language, brand, userAgent } = visitor;
  const browser = browserName(userAgent);
  const by = {
    ...{ address, requestId, language, brand, sessionHash: visit.sessionHash },
    ...customersOfEvent(session.customers.map((key) => ({ key }))),
    ...(browser && { browser }),
  };
  const user = { id: session.userId, username: session.username };
  if (!isUuid(id) || !(await removePasskey(deps.sql, { id, user }, by, deps.now())))
    return { kind: 'done', notice: 'passkeyGone' };
  deps.wake.mails();
  return { kind: 'done', notice: 'passkeyRemoved' };
}
