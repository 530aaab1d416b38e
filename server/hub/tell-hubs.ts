import { insertAuditEvent } from '../audit/audit-event.ts';
import type { HubAudience } from '../config/hub.ts';
import type { Database } from '../database/database.ts';
import type { DepsWithoutWake } from '../deps.ts';
import { NetworkNotListed, openConversation, ProviderFailure } from '../http/provider-fetch.ts';
import { type JobResult, jobGivenUpAfter, type Queue } from '../jobs/job.ts';
import { hubLogoutTokens } from './hub-tokens.ts';

const logoutsAtOnce = 4;

type TellableHub = HubAudience & { logoutUrl: string };

/** The hubs that want to be told when a session ends. */
export function hubsToTell({ hubAudiences }: DepsWithoutWake['config']): TellableHub[] {
  return hubAudiences.filter((hub): hub is TellableHub => hub.logoutUrl !== null);
}

/** The queue of ended sessions that a hub is told of (OpenID Connect Back-Channel Logout 1.0 §2.5). */
export function hubQueue(deps: DepsWithoutWake, hub: TellableHub): Queue<HubLogout> {
  const { now, log } = deps;
  const logoutToken = hubLogoutTokens(deps);
  return {
    name: hubQueueName(hub.name),
    atOnce: logoutsAtOnce,

    async perform({ payload }) {
      return await send(hub, await logoutToken(payload, hub));
    },

    /** All that is as old at once: one event says how much. */
    async giveUp(sql, { problem }) {
      const before = new Date(now().getTime() - jobGivenUpAfter);
      const { count: others } = await sql`
        delete from job where queue = ${hubQueueName(hub.name)} and made_at <= ${before}`;
      const count = others + 1;
      const steps = [
        { step: 'hub', outcome: hub.name },
        { step: 'ended sessions', outcome: String(count) },
        ...(problem === null ? [] : [{ step: 'last problem', outcome: problem }]),
      ];
      await insertAuditEvent(sql, { event: 'hub-logout-given-up', steps }, now());
      log.error({ hub: hub.name, count, problem }, 'a hub was not told of ended sessions');
    },
  };
}

async function send({ logoutUrl, logoutNetworks }: TellableHub, token: string): Promise<JobResult> {
  try {
    const { status } = await openConversation(logoutNetworks).look(logoutUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token: token }).toString(),
    });
    if (status >= 200 && status < 300) return 'done';
    const problem = `the hub answers ${status}`;
    return status >= 400 && status < 500 && status !== 408 && status !== 429 ? { refused: problem } : { away: problem };
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    return { away: logoutProblem(error) };
  }
}

/** The words of the provider's client name a setting of connections; ours, that of hubs. */
function logoutProblem(error: ProviderFailure): string {
  if (!(error instanceof NetworkNotListed)) return error.message;
  return `its address (${error.addresses.join(', ')}) is neither public nor in logoutNetworks`;
}

type HubLogout = { sid: string; userId: string };

/** The trigger session_ended has the same prefix. */
const prefix = 'hub-logout ';

/** Each hub has a queue of its own, so that one that is down holds up no other. */
function hubQueueName(audience: string): string {
  return `${prefix}${audience}`;
}

/** Says which hubs are told from now on; what waits for others is dropped. */
export async function updateHubReceivers(sql: Database, audiences: readonly string[]): Promise<void> {
  const names = audiences as string[];
  await sql`delete from hub_receiver where audience <> all(${names}::text[])`;
  await sql`insert into hub_receiver (audience) select unnest(${names}::text[]) on conflict do nothing`;
  await sql`
    delete from job where queue like ${`${prefix}%`} and queue <> all(${names.map(hubQueueName)}::text[])`;
}
