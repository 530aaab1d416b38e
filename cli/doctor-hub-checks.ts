import type { Config } from '#server/config/config.ts';
import type { Hub } from '#server/config/hub.ts';
import type { FailureKind } from '#server/http/provider-fetch.ts';
import { askHub, checkLogoutUrl } from '#server/hub/check-hub.ts';
import { hubKeyTurn } from '#server/hub/roll-hub-keys.ts';
import { hubsToTell, listUntoldHubs, type UntoldHub } from '#server/hub/tell-hubs.ts';
import { day } from '#server/limits.ts';
import type { Check, Finding } from './doctor-checks.ts';
import { localTime } from './print.ts';
import { withDatabase } from './with-database.ts';

/** How long after their time new keys for hubs may be missing: the portal may have stood still. */
const hubKeyOverdue = day;

/** Whether the hub behind the gate answers; what it answers to a stranger is its own business. */
export async function checkHub(config: Config, hub: Hub): Promise<Finding> {
  const answer = await askHub(config, hub);
  if (answer.kind === 'failed')
    return { ok: false, words: `${answer.failure.message} – ${remedies[answer.failure.kind]}` };
  const words = `${hub.url.origin} answers ${answer.status} to a visitor who is not signed in`;
  return answer.status < 500 ? { ok: true, words } : { ok: true, warning: true, words: `${words} – see the hub's log` };
}

const remedies: Record<FailureKind, string> = {
  certificate: 'put your own CA into NODE_EXTRA_CA_CERTS; the certificate must be for the host in hub.url',
  tls: 'hub.url begins with https:// only if the hub speaks TLS at that port',
  silent: 'see whether the hub hangs, or a firewall drops the connection',
  other: 'start the hub, or correct hub.url',
};

/** Whether each hub that wants to be told of sign-outs can be, and what it has not taken. */
export async function checkLogoutUrls(config: Config, isDatabaseUp: boolean): Promise<Check[]> {
  const hubs = hubsToTell(config);
  const untold = isDatabaseUp && hubs.length > 0 ? await withDatabase((sql) => listUntoldHubs(sql)) : [];
  return await Promise.all(
    hubs.map(async (hub) => {
      const { kind, words } = await checkLogoutUrl(hub);
      const waiting = untold.find(({ audience }) => audience === hub.name);
      const said = waiting ? `${words}; ${wordsOf(waiting)}` : words;
      const isWarned = kind === 'doubtful' || (kind === 'ok' && waiting !== undefined);
      return { check: `hub logout ${hub.name}`, ok: kind !== 'wrong', words: said, ...(isWarned && { warning: true }) };
    }),
  );
}

function wordsOf({ count, since, problem }: UntoldHub): string {
  return `${count} ended sessions not taken since ${localTime(since)}, last: ${problem}`;
}

/** Whether the keys that sign tokens for hubs are replaced in time. */
export async function checkHubKeys(): Promise<Finding> {
  const now = new Date();
  const turn = await withDatabase((sql) => hubKeyTurn(sql, now));
  if (!turn) return { ok: true, words: 'there are none yet: the first token makes them' };
  const made = `made on ${localTime(turn.madeAt)}`;
  if (now.getTime() - turn.replacedAt.getTime() < hubKeyOverdue)
    return { ok: true, words: `${made}, replaced by themselves from ${localTime(turn.replacedAt)} on` };
  const words = `${made}, and not replaced since ${localTime(turn.replacedAt)} – start the portal, which does it, or vestibule keys roll`;
  return { ok: false, words };
}
