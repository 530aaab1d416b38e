import { insertAuditEvent } from '../audit/audit-event.ts';
import { isUuid } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import {
  listCredentials,
  listPasskeys,
  providerName,
  removePasskey,
  standingOfPasskey,
  updatePasskeyName,
} from '../factors/passkey.ts';
import { userHandleOf } from '../factors/passkey-ceremony.ts';
import { limits } from '../limits.ts';
import { readPasskeyName } from '../names/read-name.ts';
import { isPasskeyRequired } from '../people/sign-in-policy.ts';
import { type AccountVisit, personOf, placeOf } from './account-visit.ts';
import { enrolPasskey, standingOf } from './enrol-passkey.ts';
import { changeAccount, countChange, type Fields, type Outcome, type Section } from './section.ts';

/** The passkeys of the account: enrolled after a fresh proof, renamed, removed after one. */
export const passkeys: Section = {
  name: 'passkeys',
  kept: ['id', 'name'],
  view,
  actions: {
    enrol: { needsProof: true, run: enrolPasskey },
    rename: { needsProof: false, run: rename },
    remove: { needsProof: true, run: remove },
  },
};

async function view(deps: Deps, visit: AccountVisit) {
  const { sql, config } = deps;
  const { session, account } = visit;
  const rp = config.passkeys;
  const { userId } = session;
  const found = account.isPart ? [] : await listPasskeys(sql, userId);
  const credentials = rp && !account.isPart ? await listCredentials(sql, { userId, rpId: rp.id }) : null;
  return {
    name: 'passkeys' as const,
    state: !rp ? ('off' as const) : account.isPart ? ('part' as const) : await standingOf(deps, sql, visit),
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
        userId: userHandleOf(userId),
        name: session.username,
        allAcceptedCredentialIds: credentials.map(({ credentialId }) => credentialId.toString('base64url')),
      },
  };
}

async function rename(deps: Deps, visit: AccountVisit, { id = '', name = '' }: Fields): Promise<Outcome> {
  if (visit.account.isPart) return { kind: 'refused', notice: 'notPossible' };
  const reading = readPasskeyName(name);
  if (reading.kind === 'refused') return { kind: 'refused', notice: 'passkeyName' };
  const { userId } = visit.session;
  if (!isUuid(id)) return { kind: 'done', notice: 'passkeyGone' };
  const throttled = await countChange(deps, visit, 'passkey-name');
  if (throttled) return throttled;
  const now = deps.now();
  return await changeAccount(deps, visit, async (sql) => {
    if (!(await updatePasskeyName(sql, { id, userId, name: reading.value })))
      return { kind: 'done', notice: 'passkeyGone' };
    const steps = [{ step: 'passkey', outcome: `${id}, ${reading.value}` }];
    await insertAuditEvent(sql, { event: 'passkey-renamed', ...personOf(visit), steps }, now);
    return { kind: 'done', notice: 'passkeyRenamed' };
  });
}

/**
 * The last one stays where nothing else signs in: it would take an operator's invitation to come back.
 */
async function remove(deps: Deps, visit: AccountVisit, { id = '' }: Fields): Promise<Outcome> {
  if (visit.account.isPart) return { kind: 'refused', notice: 'notPossible' };
  if (!isUuid(id)) return { kind: 'done', notice: 'passkeyGone' };
  const now = deps.now();
  const by = { event: personOf(visit), mail: placeOf(visit), sessionId: visit.session.id };
  return await changeAccount(deps, visit, async (sql) => {
    const { userId, username } = visit.session;
    const rpId = deps.config.passkeys?.id ?? null;
    const { isLast, isThere } = await standingOfPasskey(sql, { id, userId, rpId });
    if (isThere && isLast && (await isPasskeyRequired(sql, userId))) return { kind: 'refused', notice: 'passkeyLast' };
    const isRemoved = await removePasskey(sql, { id, user: { id: userId, username } }, by, now);
    return { kind: 'done', notice: isRemoved ? 'passkeyRemoved' : 'passkeyGone' };
  });
}
