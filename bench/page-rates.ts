import { median, percentile, report, reportRatio } from './figures.ts';
import { pacedRequests } from './paced-requests.ts';
import { interleaved, type Load, rate } from './rates.ts';
import type { RunningServer } from './servers.ts';

/** As a browser asks for the sign-in page. */
const headers = { accept: 'text/html', 'accept-encoding': 'gzip, deflate, br', 'accept-language': 'en' };

/** Sign-in pages per second, against a bare route that sends the same bytes; then the latency of both at half that rate. */
export async function comparePageRates(portal: RunningServer, bare: RunningServer, load: Load): Promise<void> {
  const requests = (path: string) => [{ path, headers }];
  const { ours, theirs } = await interleaved(load, {
    ours: () => rate(portal.origin, requests('/portal/login'), load.seconds, 200),
    theirs: () => rate(bare.origin, requests('/page'), load.seconds, 200),
  });
  reportRatio('sign-in pages per second, 8 connections', { ours, theirs, whose: 'the bare route', least: 0.5 });
  const half = Math.round(Math.max(...ours) / 2);
  const p99 = async ({ origin }: RunningServer, path: string) =>
    percentile(await pacedRequests(origin, { path, headers }, { perSecond: half, seconds: load.seconds }), 0.99);
  const waits = await interleaved(load, {
    ours: () => p99(portal, '/portal/login'),
    theirs: () => p99(bare, '/page'),
  });
  const [wait, bareWait] = [median(waits.ours), median(waits.theirs)];
  const told = `${Math.round(wait)} ms at ${half} a second (the bare route: ${Math.round(bareWait)})`;
  report('p99 of /portal/login at half that load', told, 'under 20 ms', wait < 20);
}
