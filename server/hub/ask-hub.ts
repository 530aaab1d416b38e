import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { hubStartPath } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import type { Hub } from '../config/hub.ts';
import { failureOfRequest, type ProviderFailure } from '../http/provider-fetch.ts';
import { doctorHub } from './check-logout-url.ts';
import { headersForHub } from './headers.ts';
import { serverNameOf } from './way-to-hub.ts';

/** What the hub says to somebody who is not signed in. */
export type HubAnswer = { kind: 'answered'; status: number } | { kind: 'failed'; failure: ProviderFailure };

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
