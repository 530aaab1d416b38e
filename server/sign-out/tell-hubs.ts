import type { HubAudience } from '../config/hub-audiences.ts';
import type { DepsWithoutWake } from '../deps/deps.ts';
import { hubLogoutTokens } from '../hub/hub-tokens.ts';
import { hour, minute, second } from '../limits.ts';
import { ProviderFailure } from '../single-sign-on/provider-failure.ts';
import { openConversation } from '../single-sign-on/provider-fetch.ts';
import {
  deleteHubLogout,
  type HubLogout,
  takeOnHubLogout,
  updateHubAway,
  updateHubLogoutPutBack,
} from '../storage/hub-logout.ts';
import type { Outcome } from '../worker.ts';
import { logoutProblem } from './logout-problem.ts';

/** Longer than any request to a hub: a logout token claimed but not finished is sent again after this. */
export const hubLogoutTakenOnFor = minute;

/** A refused logout token is sent again after the first wait, which then doubles each time, up to the longest. */
export const hubLogoutFirstWait = 10 * second;

const hubLogoutLongestWait = hour;

/** While a hub is down it is asked again after the first pause, and at most after the longest. */
export const hubAwayFirstPause = second;

const hubAwayLongestPause = minute;

/** A hub that wants to be told. */
export type TellableHub = HubAudience & { logoutUrl: string };

/** The hubs that want to be told when a session ends. */
export function hubsToTell({ hubAudiences }: DepsWithoutWake['config']): TellableHub[] {
  return hubAudiences.filter((hub): hub is TellableHub => hub.logoutUrl !== null);
}

/**
 * Tells hubs which sessions have ended (OpenID Connect Back-Channel Logout 1.0 §2.5): each call sends one token. Instances
 * share the queue, and each entry is claimed by one at a time. While a hub is away, nothing is sent to it for a growing
 * time; what a hub refuses is sent again at growing intervals.
 */
export function hubTelling(deps: DepsWithoutWake): () => Promise<Outcome> {
  const { sql, now, log } = deps;
  const hubs = new Map(hubsToTell(deps.config).map((hub) => [hub.name, hub]));
  const audiences = [...hubs.keys()];
  const logoutToken = hubLogoutTokens(deps);

  return async function tellHub(): Promise<Outcome> {
    const at = now();
    const logout = await takeOnHubLogout(sql, { audiences, now: at, until: after(at, hubLogoutTakenOnFor) });
    const hub = logout && hubs.get(logout.audience);
    if (!hub) return 'nothing';
    const result = await send(hub, await logoutToken(logout, hub));
    if (result.kind === 'taken') await deleteHubLogout(sql, logout);
    else if (result.kind === 'refused') await putBack(logout, result.problem);
    else await pause(logout, result.problem);
    return 'more';
  };

  async function send({ logoutUrl, logoutNetworks }: TellableHub, token: string) {
    try {
      const { status } = await openConversation(logoutNetworks).look(logoutUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ logout_token: token }).toString(),
      });
      if (status >= 200 && status < 300) return { kind: 'taken' } as const;
      const kind = status >= 400 && status < 500 && status !== 408 && status !== 429 ? 'refused' : 'away';
      return { kind, problem: `the hub answers ${status}` } as const;
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      return { kind: 'away', problem: logoutProblem(error) } as const;
    }
  }

  async function putBack(logout: HubLogout, problem: string): Promise<void> {
    const wait = Math.min(hubLogoutLongestWait, hubLogoutFirstWait * 2 ** Math.min(30, logout.tries - 1));
    await updateHubLogoutPutBack(sql, logout, { sendAfter: after(now(), wait), problem, now: now() });
    log.warn({ hub: logout.audience, sid: logout.sid, tries: logout.tries, problem }, 'a hub refused a logout token');
  }

  async function pause(logout: HubLogout, problem: string): Promise<void> {
    const paused = await updateHubAway(sql, logout, {
      problem,
      now: now(),
      firstPause: hubAwayFirstPause,
      longestPause: hubAwayLongestPause,
    });
    if (paused !== null)
      log.warn({ hub: logout.audience, problem, pause: paused }, 'a hub cannot be told of sign-outs');
  }
}

function after(at: Date, time: number): Date {
  return new Date(at.getTime() + time);
}
