import { accountFields, accountUrl } from '#contract/account.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { seal, unseal } from '../secrets/sealed.ts';
import { tokenHash } from '../secrets/token.ts';
import { isAppRequired } from '../storage/account.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { RollBack } from '../storage/database.ts';
import { deleteLesserSessionsOfUser } from '../storage/end-sessions.ts';
import { putFreshProof } from '../storage/fresh-proof.ts';
import { updateFactorVersion } from '../storage/portal-user.ts';
import { deleteRecoveryCodes } from '../storage/recovery-code.ts';
import { deleteRememberedDevices } from '../storage/remembered-device.ts';
import { deleteThrottle } from '../storage/throttle.ts';
import { codeKey } from '../storage/throttle-keys.ts';
import { deleteTotp, findOrInsertPendingTotp, findPendingTotp, insertTotp } from '../storage/totp.ts';
import { appKey } from '../two-factor/app-key.ts';
import { makeRecoveryCodes } from '../two-factor/recovery-codes.ts';
import { inApp, pendingPlace, totpPlace } from '../two-factor/registration.ts';
import { newTotpSecret, totpStep } from '../two-factor/totp.ts';
import type { AccountVisit } from './account-visit.ts';
import { countCode, recordWrongCode } from './check-code.ts';
import { personForChange } from './person-for-change.ts';
import { personOf } from './person-of-event.ts';
import { placeOf } from './place-of-change.ts';
import { nextToken } from './press.ts';
import { isAppProven } from './proof-to-ask.ts';
import { recoveryCodesPage } from './recovery-codes-page.ts';
import { rotateSession } from './rotate-session.ts';
import type { Fields, Outcome, Section } from './section.ts';

/** The authenticator app: set up by the screen that registers one, replaced and removed here. */
export const app: Section = {
  name: 'app',
  kept: [],
  view: async (deps, visit, begun) => ({
    name: 'app',
    since: visit.account.appSince?.toISOString() ?? null,
    isRequired: visit.account.isAppRequired,
    isPart: visit.account.isPart,
    next: begun === 'replace' && showsNext(deps, visit) ? await nextApp(deps, visit) : null,
  }),
  actions: {
    setUp: { needsProof: true, run: setUp },
    replace: {
      needsProof: true,
      run: replace,
      again: (deps, fields) => ({ to: isBeginning(fields) ? pageOfNext(deps) : codesOfReplaced(deps) }),
    },
    remove: { needsProof: true, run: remove, again: () => ({ notice: 'appRemoved' }) },
  },
};

function isOpen({ account }: AccountVisit): boolean {
  return account.hasApp && !account.isPart;
}

/** Nothing is made, or shown, before the proof; a recent sign-in counts once the session goes by another token (begin). */
function showsNext({ now }: Deps, visit: AccountVisit): boolean {
  return isOpen(visit) && isAppProven(visit, now());
}

async function setUp({ config }: Deps, { account }: AccountVisit): Promise<Outcome> {
  if (account.hasApp || account.isPart) return { kind: 'refused', notice: 'notPossible' };
  const back = accountUrl(config.basePath, 'app');
  return { kind: 'done', to: screenUrl(config.basePath, 'twoFactorRegistration', { [queryNames.redirectUrl]: back }) };
}

/** What the next app needs: the same key after reloads, of a secret that is sealed for this session, and of this browser. */
async function nextApp(deps: Deps, { session, pressToken }: AccountVisit) {
  const { keys } = deps;
  const place = pendingPlace(session.id);
  const { sealedSecret } = await findOrInsertPendingTotp(deps.sql, {
    sessionId: session.id,
    sealedSecret: seal(keys.seal, newTotpSecret(), place),
    madeAt: deps.now(),
  });
  const secret = unseal(keys.seal, sealedSecret, place);
  if (secret === null) throw new Error('cannot open the pending secret of a session');
  if (pressToken === null) throw new Error('the key of the next app has no browser');
  return await inApp(deps, session.username, appKey(secret, pressToken));
}

/** The button before the key is shown: there is no field for a code yet. */
function isBeginning({ code }: Fields): boolean {
  return code === undefined;
}

/**
 * Begins to replace the app, under the session's next token: a copy of its cookies may be as old as the sign-in, or as the last
 * proof, and would be shown the next app's key. A recent sign-in becomes a proof, which counts in this browser alone.
 */
async function begin(deps: Deps, visit: AccountVisit, fields: Fields): Promise<Outcome> {
  const now = deps.now();
  const to = pageOfNext(deps);
  const { provenAt } = visit.session;
  const token = nextToken(deps, { visitor: visit.visitor, fields });
  const isThere = await deps.sql.begin(async (sql) => {
    if (!(await personForChange(sql, visit, now))) return false;
    await rotateSession(sql, visit, { token, now });
    if (!isAppProven(visit, now) && provenAt !== null)
      await putFreshProof(sql, tokenHash(token), { kind: 'code', at: provenAt, passkeyId: visit.account.passkeyId });
    return true;
  });
  return isThere ? { kind: 'done', sessionToken: token, to } : { kind: 'signedOut' };
}

function pageOfNext({ config }: Deps): string {
  return accountUrl(config.basePath, 'app', { [accountFields.action]: 'replace' });
}

/**
 * Replaces the app once a code of the next one has been entered: with new recovery codes, and this session under another token.
 * Every other session and remembered device ends, as after a registration.
 */
async function replace(deps: Deps, visit: AccountVisit, fields: Fields): Promise<Outcome> {
  const { code = '' } = fields;
  if (!isOpen(visit)) return { kind: 'refused', notice: 'notPossible' };
  if (isBeginning(fields)) return await begin(deps, visit, fields);
  if (code === '') return { kind: 'refused', notice: 'entryMissing' };
  const throttled = await countCode(deps, visit);
  if (throttled) return throttled;
  const { session, sessionHash, pressToken } = visit;
  const { userId } = session;
  const now = deps.now();
  const digits = code.replaceAll(' ', '');
  const token = nextToken(deps, { visitor: visit.visitor, fields });
  const stored = await deps.sql.begin(async (sql) => {
    const reader = await personForChange(sql, visit, now);
    if (!reader) return new RollBack('signedOut' as const);
    const pending = await findPendingTotp(sql, session.id);
    const secret = pending && unseal(deps.keys.seal, pending.sealedSecret, pendingPlace(session.id));
    const key = secret && pressToken && appKey(secret, pressToken);
    const step = key && totpStep(key, digits, now);
    if (!step) return new RollBack('codeWrong' as const);
    // An operator has removed it meanwhile: then it is set up anew, not replaced.
    if (!(await deleteTotp(sql, userId))) return new RollBack('changedMeanwhile' as const);
    const sealedSecret = seal(deps.keys.seal, key, totpPlace(userId));
    await insertTotp(sql, { userId, sealedSecret, lastStep: step, confirmedAt: now });
    await updateFactorVersion(sql, userId);
    await makeRecoveryCodes(deps, sql, { userId, sessionId: session.id }, now);
    await deleteLesserSessionsOfUser(sql, { userId, tokenHash: sessionHash }, now);
    const devices = await deleteRememberedDevices(sql, userId);
    await rotateSession(sql, visit, { token, now });
    await deleteThrottle(sql, codeKey(session));
    await queueMail(sql, reader, { kind: 'appReplaced', now, ...placeOf(visit) });
    const steps = [{ step: 'devices forgotten', outcome: String(devices) }];
    await insertAuditEvent(sql, { event: 'app-replaced', ...personOf(visit), steps }, now);
    return null;
  });
  if (stored === 'signedOut') return { kind: 'signedOut' };
  if (stored === 'codeWrong') await recordWrongCode(deps, visit);
  if (stored !== null) return { kind: 'refused', notice: stored };
  deps.wake.mails();
  return { kind: 'done', sessionToken: token, to: codesOfReplaced(deps) };
}

function codesOfReplaced(deps: Deps): string {
  return recoveryCodesPage(deps, 'app', 'appReplaced');
}

/**
 * Removes the app, unless a customer requires one: the next sign-in asks for what the customers require. Other sessions end,
 * those that wait for a code of the app among them, and so does a copy of this one.
 */
async function remove(deps: Deps, visit: AccountVisit, fields: Fields): Promise<Outcome> {
  // The second press of the button, or another tab.
  if (!visit.account.hasApp && !visit.account.isPart) return { kind: 'done', notice: 'appRemoved' };
  if (!isOpen(visit) || visit.account.isAppRequired) return { kind: 'refused', notice: 'notPossible' };
  const { session, sessionHash } = visit;
  const { userId } = session;
  const now = deps.now();
  const token = nextToken(deps, { visitor: visit.visitor, fields });
  const stored = await deps.sql.begin(async (sql) => {
    const reader = await personForChange(sql, visit, now);
    if (!reader) return new RollBack('signedOut' as const);
    // Asked again: a customer may have come to require it since the page was read.
    if (await isAppRequired(sql, userId)) return new RollBack('notPossible' as const);
    if (!(await deleteTotp(sql, userId))) return new RollBack('gone' as const);
    await deleteRecoveryCodes(sql, userId);
    await updateFactorVersion(sql, userId);
    await deleteLesserSessionsOfUser(sql, { userId, tokenHash: sessionHash }, now);
    const devices = await deleteRememberedDevices(sql, userId);
    await rotateSession(sql, visit, { token, now });
    await queueMail(sql, reader, { kind: 'appRemoved', now, ...placeOf(visit) });
    const steps = [{ step: 'devices forgotten', outcome: String(devices) }];
    await insertAuditEvent(sql, { event: 'app-removed', ...personOf(visit), steps }, now);
    return null;
  });
  if (stored === 'signedOut') return { kind: 'signedOut' };
  if (stored === 'notPossible') return { kind: 'refused', notice: 'notPossible' };
  if (stored === 'gone') return { kind: 'done', notice: 'appRemoved' };
  deps.wake.mails();
  return { kind: 'done', notice: 'appRemoved', sessionToken: token };
}
