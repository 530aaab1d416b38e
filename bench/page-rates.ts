import autocannon from 'autocannon';
import { report, reportRatio } from './figures.ts';
import { connections, interleaved, type Load, rate } from './rates.ts';
import type { RunningServer } from './servers.ts';

/** As a browser asks for the sign-in page. */
const headers = { accept: 'text/html', 'accept-encoding': 'gzip, deflate, br', 'accept-language': 'en' };

/** Sign-in pages per second, against a bare route that sends the same bytes; then their latency at half that rate. */
export async function comparePageRates(portal: RunningServer, bare: RunningServer, load: Load): Promise<void> {
  const requests = (path: string) => [{ path, headers }];
  const { ours, theirs } = await interleaved(load, {
    ours: () => rate(portal.origin, requests('/portal/login'), load.seconds, 200),
    theirs: () => rate(bare.origin, requests('/page'), load.seconds, 200),
  });
  reportRatio('sign-in pages per second, 8 connections', { ours, theirs, whose: 'the bare route', least: 0.5 });
  const half = Math.round(Math.max(...ours) / 2);
  const { latency } = await autocannon({
    url: portal.origin,
    connections,
    duration: load.seconds,
    overallRate: half,
    requests: requests('/portal/login'),
  });
  const told = `${Math.round(latency.p99)} ms at ${half} a second`;
  report('p99 of /portal/login at half that load', told, 'under 20 ms', latency.p99 < 20);
}
