import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { hubStartPath } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import type { Hub } from '../config/hub.ts';
import { failureOfRequest, NetworkNotListed, openConversation, ProviderFailure } from '../http/provider-fetch.ts';
import { second } from '../limits.ts';
import { serverNameOf } from './hub-connection.ts';
import { headersForHub } from './hub-headers.ts';
import { logoutProblem, type TellableHub } from './tell-hubs.ts';

/** What the hub says to somebody who is not signed in. */
type HubAnswer = { kind: 'answered'; status: number } | { kind: 'failed'; failure: ProviderFailure };

/** Asks the hub for its own page as the gate does, on behalf of nobody, for `doctor`. The answer's body is not read. */
export async function askHub(config: Config, hub: Hub, within: number = doctorHub): Promise<HubAnswer> {
  const url = new URL(config.basePath + hubStartPath, hub.url);
  const told = { address: '127.0.0.1', person: null, token: null };
  const headers = headersForHub(config)({ host: config.publicUrl.host, accept: 'text/html' }, told);
  const signal = AbortSignal.timeout(within);
  const options = { headers, agent: false as const, signal, servername: serverNameOf(url) };
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const asked = (url.protocol === 'https:' ? overHttps : overHttp)(url, options);
  asked.on('response', ({ statusCode }) => resolve(statusCode ?? 0));
  asked.on('upgrade', ({ statusCode }) => resolve(statusCode ?? 0));
  asked.on('error', reject);
  asked.on('close', () => reject(new TypeError('', { cause: new Error('no answer') })));
  asked.end();
  try {
    return { kind: 'answered', status: await promise };
  } catch (error) {
    const thrown = signal.aborted ? signal.reason : new TypeError('', { cause: error });
    return { kind: 'failed', failure: failureOfRequest(thrown, url) };
  } finally {
    asked.destroy();
  }
}

/** How long `doctor` waits for a hub. */
const doctorHub = 10 * second;

/** Whether a hub can be told of sign-outs, in words for the operator. */
type LogoutUrlCheck = { kind: 'ok' | 'doubtful' | 'wrong'; words: string };

/**
 * Posts to a hub's `logoutUrl` what the portal would, without a token: the hub must refuse it with 400 (OpenID Connect
 * Back-Channel Logout 1.0 §2.8), so nothing ends.
 */
export async function checkLogoutUrl(hub: TellableHub, within: number = doctorHub): Promise<LogoutUrlCheck> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  try {
    const { status } = await openConversation(hub.logoutNetworks, within).look(hub.logoutUrl, {
      method: 'POST',
      headers,
      body: '',
    });
    return judged(status);
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    return { kind: 'wrong', words: `${logoutProblem(error)} – ${remedyOf(error)}` };
  }
}

function judged(status: number): LogoutUrlCheck {
  if (status < 300)
    return {
      kind: 'doubtful',
      words: `answers ${status} without a token – let the hub check logout_token, and answer 400`,
    };
  if (status >= 500) return { kind: 'wrong', words: `answers ${status} – mend the hub; what waits is sent for a day` };
  if (status < 400 || [401, 403, 404, 405].includes(status))
    return { kind: 'wrong', words: `answers ${status} – correct logoutUrl, or let it take POST without a sign-in` };
  return { kind: 'ok', words: `answers ${status} to a request without a token, as it should` };
}

function remedyOf(error: ProviderFailure): string {
  if (error instanceof NetworkNotListed) return 'add its network to logoutNetworks of hub.audiences';
  if (error.kind === 'certificate' || error.kind === 'tls')
    return 'put your own CA into NODE_EXTRA_CA_CERTS, or correct the host of logoutUrl';
  return 'start the hub, or correct logoutUrl of hub.audiences; what waits is sent for a day';
}
