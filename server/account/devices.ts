import { insertAuditEvent } from '../audit/audit-event.ts';
import { isUuid, tokenHash } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { deleteRememberedDevices, findRememberedDeviceId, listRememberedDevices } from '../factors/devices.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { type AccountVisit, personOf, placeOf } from './account-visit.ts';
import { changeAccount, type Fields, type Outcome, type Section } from './section.ts';

/** The browsers that are not asked for a code. Forgetting them only takes away, so it needs no proof. */
export const devices: Section = {
  name: 'devices',
  kept: [],
  view: async (deps, { session, account, visitor }) => {
    if (account.isPart) return { name: 'devices', devices: [], isPart: true };
    const { rememberedToken } = visitor;
    const own = rememberedToken && (await findRememberedDeviceId(deps.sql, session.userId, tokenHash(rememberedToken)));
    const listed = await listRememberedDevices(deps.sql, session.userId, deps.now());
    return {
      name: 'devices',
      isPart: false,
      devices: listed.map(({ id, browser, address, lastUsedAt, endsAt }) => ({
        id,
        browser,
        address,
        lastUsedAt: lastUsedAt.toISOString(),
        endsAt: endsAt.toISOString(),
        isThis: id === own,
      })),
    };
  },
  actions: {
    forget: { needsProof: false, run: (deps, visit, { id = '' }: Fields) => forget(deps, visit, id) },
    forgetAll: { needsProof: false, run: (deps, visit) => forget(deps, visit, null) },
  },
};

/** Forgets the device with an id, or all: null. What is forgotten already changes nothing, and is no event. */
async function forget(deps: Deps, visit: AccountVisit, id: string | null): Promise<Outcome> {
  if (visit.account.isPart || (id !== null && !isUuid(id))) return { kind: 'refused', notice: 'notPossible' };
  const { userId } = visit.session;
  const now = deps.now();
  const done = { kind: 'done', notice: id === null ? 'devicesForgotten' : 'deviceForgotten' } as const;
  return await changeAccount(deps, visit, async (sql, person) => {
    const count = await deleteRememberedDevices(sql, userId, id ?? undefined);
    if (count === 0) return done;
    await queueMail(sql, person, { kind: 'devicesForgotten', now, ...placeOf(visit) });
    const steps = [{ step: 'devices forgotten', outcome: String(count) }];
    await insertAuditEvent(sql, { event: 'own-devices-forgotten', ...personOf(visit), steps }, now);
    return done;
  });
}
