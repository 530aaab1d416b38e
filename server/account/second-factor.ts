import type { AccountNotice } from '#contract/account.ts';
import { type AccountSection, accountUrl } from '#contract/account.ts';
import { callUrl } from '#contract/calls.ts';
import { codeOfText } from '#contract/codes.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import { seal } from '../crypto/keys.ts';
import { isUuid } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { deleteRememberedDevices, listRememberedDevices } from '../factors/devices.ts';
import { deleteRecoveryCodes, makeRecoveryCodes } from '../factors/recovery-codes.ts';
import { findPendingSecret, inApp, secretToShow, totpPlace } from '../factors/registration.ts';
import { deletePendingTotp, deleteTotp, findTotp, insertTotp, totpStep } from '../factors/totp.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { endSessionsOfUser } from '../sessions/end-sessions.ts';
import { placeOfVisitor } from '../sessions/visitor.ts';
import { deleteThrottles } from '../throttle/throttle.ts';
import { codeKey } from '../throttle/throttle-keys.ts';
import { type AccountVisit, isAppRequired, personOf } from './account-visit.ts';
import { countCode, proofToAsk, wrongCode } from './prove.ts';
import { changeAccount, countChange, type Fields, type Outcome, type Section } from './section.ts';

/** The authenticator app: set up by the screen that registers one, replaced and removed here. */
export const app: Section = {
  name: 'app',
  kept: [],
  view: async (deps, visit, begun) => ({
    name: 'app',
    since: visit.account.appSince,
    isRequired: visit.account.isAppRequired,
    isPart: visit.account.isPart,
    next:
      begun === 'replace' && visit.account.hasApp && !visit.account.isPart && proofToAsk(visit, deps.now()) === null
        ? await nextApp(deps, visit)
        : null,
  }),
  actions: {
    setUp: { needsProof: true, run: setUp },
    replace: { needsProof: true, run: replace },
    remove: { needsProof: true, run: remove },
  },
};

async function setUp({ config }: Deps, { account }: AccountVisit): Promise<Outcome> {
  if (account.hasApp) return { kind: 'refused', notice: 'notPossible' };
  const back = accountUrl(config.basePath, 'app');
  return { kind: 'done', to: screenUrl(config.basePath, 'twoFactorRegistration', { [queryNames.redirectUrl]: back }) };
}

/** What the next app needs: the same key after reloads. Nothing is made, or shown, before the proof. */
async function nextApp(deps: Deps, { session, visitor }: AccountVisit) {
  const { id: sessionId, userId, username } = session;
  return await inApp(deps, username, await secretToShow(deps, { userId, sessionId, browser: visitor }));
}

/** Replaces the app once a code of the next one is right, with new recovery codes; the rest ends as after a registration. */
async function replace(deps: Deps, visit: AccountVisit, { code = '' }: Fields): Promise<Outcome> {
  if (!visit.account.hasApp) return { kind: 'refused', notice: 'notPossible' };
  if (code === '') return { kind: 'refused', notice: 'entryMissing' };
  const throttled = await countCode(deps, visit);
  if (throttled) return throttled;
  const { session } = visit;
  const { userId } = session;
  const now = deps.now();
  const outcome = await changeAccount(deps, visit, async (sql, person) => {
    const secret = await findPendingSecret(deps, sql, { userId, sessionId: session.id, browser: visit.visitor });
    // The second press of the button.
    if (!secret) return { kind: 'done', to: recoveryCodesPage(deps, 'app') };
    const digits = codeOfText(code);
    const step = digits && totpStep(secret, digits, now);
    if (!step) return { kind: 'refused', notice: 'codeWrong' };
    // An operator has removed it meanwhile: then it is set up anew, not replaced.
    if (!(await deleteTotp(sql, userId))) return { kind: 'refused', notice: 'changedMeanwhile' };
    const sealedSecret = seal(deps.keys.seal, secret, totpPlace(userId));
    await insertTotp(sql, { userId, sealedSecret, lastStep: step, confirmedAt: now });
    await deletePendingTotp(sql, userId);
    await makeRecoveryCodes(deps, sql, { userId, sessionId: session.id }, now);
    await endSessionsOfUser(sql, userId, { kept: session.id });
    const devices = await deleteRememberedDevices(sql, userId);
    await deleteThrottles(sql, [codeKey(session)]);
    await queueMail(sql, person, { kind: 'appReplaced', now, ...placeOfVisitor(visit.visitor) });
    const steps = [{ step: 'devices forgotten', outcome: String(devices) }];
    await insertAuditEvent(sql, { event: 'app-replaced', ...personOf(visit), steps }, now);
    return { kind: 'done', to: recoveryCodesPage(deps, 'app', 'appReplaced') };
  });
  const isWrong = outcome.kind === 'refused' && outcome.notice === 'codeWrong';
  return isWrong ? await wrongCode(deps, visit) : outcome;
}

/** Removes the app, unless a customer requires one. Other sessions end, those that wait for a code of it among them. */
async function remove(deps: Deps, visit: AccountVisit): Promise<Outcome> {
  // The second press of the button, or another tab.
  if (!visit.account.hasApp) return { kind: 'done', notice: 'appRemoved' };
  if (visit.account.isAppRequired) return { kind: 'refused', notice: 'notPossible' };
  const { session } = visit;
  const { userId } = session;
  const now = deps.now();
  return await changeAccount(deps, visit, async (sql, person) => {
    // Asked again: a customer may have come to require it since the page was read.
    if (await isAppRequired(sql, userId)) return { kind: 'refused', notice: 'notPossible' };
    if (!(await deleteTotp(sql, userId))) return { kind: 'done', notice: 'appRemoved' };
    await deleteRecoveryCodes(sql, userId);
    await endSessionsOfUser(sql, userId, { kept: session.id });
    const devices = await deleteRememberedDevices(sql, userId);
    await queueMail(sql, person, { kind: 'appRemoved', now, ...placeOfVisitor(visit.visitor) });
    const steps = [{ step: 'devices forgotten', outcome: String(devices) }];
    await insertAuditEvent(sql, { event: 'app-removed', ...personOf(visit), steps }, now);
    return { kind: 'done', notice: 'appRemoved' };
  });
}

/** How many recovery codes are left, and new ones, which are shown once. */
export const recoveryCodes: Section = {
  name: 'recoveryCodes',
  kept: [],
  view: async (_deps, { account }) => ({
    name: 'recoveryCodes',
    left: account.recoveryCodesLeft,
    hasApp: account.hasApp,
    isPart: account.isPart,
  }),
  actions: {
    make: { needsProof: true, run: make },
  },
};

async function make(deps: Deps, visit: AccountVisit): Promise<Outcome> {
  const { account, session } = visit;
  if (!account.hasApp) return { kind: 'refused', notice: 'notPossible' };
  const throttled = await countChange(deps, visit, 'recovery-codes');
  if (throttled) return throttled;
  const { userId } = session;
  const now = deps.now();
  return await changeAccount(deps, visit, async (sql, person) => {
    if (!(await findTotp(sql, userId))) return { kind: 'refused', notice: 'notPossible' };
    await makeRecoveryCodes(deps, sql, { userId, sessionId: session.id }, now);
    await queueMail(sql, person, { kind: 'recoveryCodesMade', now, ...placeOfVisitor(visit.visitor) });
    await insertAuditEvent(sql, { event: 'recovery-codes-made', ...personOf(visit) }, now);
    return { kind: 'done', to: recoveryCodesPage(deps, 'recoveryCodes') };
  });
}

/** The page that shows new recovery codes once (factors/recovery-codes.ts), and leads back to a section. */
function recoveryCodesPage({ config }: Deps, section: AccountSection, notice?: AccountNotice): string {
  const back = accountUrl(config.basePath, section, { [queryNames.notice]: notice });
  return `${callUrl(config.basePath, 'twoFactorRecoveryCodes')}?${new URLSearchParams({ [queryNames.redirectUrl]: back })}`;
}

/** The browsers that are not asked for a code. Forgetting them only takes away, so it needs no proof. */
export const devices: Section = {
  name: 'devices',
  kept: [],
  view: async ({ sql, now }, { session: { userId }, account: { isPart }, visitor }) => ({
    name: 'devices',
    isPart,
    devices: isPart ? [] : await listRememberedDevices(sql, userId, now(), visitor.rememberedToken),
  }),
  actions: {
    forget: { needsProof: false, run: (deps, visit, { id = '' }: Fields) => forget(deps, visit, id) },
    forgetAll: { needsProof: false, run: (deps, visit) => forget(deps, visit, null) },
  },
};

/** Forgets the device with an id, or all: null. What is forgotten already changes nothing, and is no event. */
async function forget(deps: Deps, visit: AccountVisit, id: string | null): Promise<Outcome> {
  if (id !== null && !isUuid(id)) return { kind: 'refused', notice: 'notPossible' };
  const { userId } = visit.session;
  const now = deps.now();
  const done = { kind: 'done', notice: id === null ? 'devicesForgotten' : 'deviceForgotten' } as const;
  return await changeAccount(deps, visit, async (sql, person) => {
    const count = await deleteRememberedDevices(sql, userId, { id });
    if (count === 0) return done;
    await queueMail(sql, person, { kind: 'devicesForgotten', now, ...placeOfVisitor(visit.visitor) });
    const steps = [{ step: 'devices forgotten', outcome: String(count) }];
    await insertAuditEvent(sql, { event: 'own-devices-forgotten', ...personOf(visit), steps }, now);
    return done;
  });
}
