import type { Deps } from '../deps/deps.ts';
import { type Metrics, throttledKinds } from '../deps/metrics.ts';
import { mailKinds } from '../storage/mail-kinds.ts';
import { registerGauges } from './metrics-gauges.ts';
import { timeWork } from './metrics-of-work.ts';

/** Counters and times of this process, and gauges that query the database when read. docs/operating.md lists them. */
export async function createMetrics(deps: Pick<Deps, 'config' | 'sql' | 'now'>): Promise<Metrics> {
  const prometheus = await import('prom-client');
  const { Counter, collectDefaultMetrics, Histogram, Registry } = prometheus;
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name: `vestibule_${name}`, help, labelNames, registers });
  // From 0 on, or the first event of a kind would be no increase.
  const byKind = (name: string, help: string, kinds: readonly string[]) => {
    const made = counter(name, help, 'kind');
    for (const kind of kinds) made.inc({ kind }, 0);
    return made;
  };
  collectDefaultMetrics({ register: registry });
  registerGauges(prometheus, registry, deps);
  return {
    text: () => registry.metrics(),
    contentType: registry.contentType,
    close: timeWork(prometheus, registry),
    requests: counter('requests_total', 'Answered requests.', 'route', 'status'),
    requestTime: new Histogram({
      name: 'vestibule_request_seconds',
      help: 'Time from a request to its answer.',
      labelNames: ['route'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    signIns: counter(
      'sign_ins_total',
      'Checked sign-ins, by the last proof and its outcome: signed-in, second-factor-asked, or why it was refused.',
      'way',
      'outcome',
    ),
    throttled: byKind(
      'throttled_total',
      'Requests that were told to wait, by what was tried too often.',
      throttledKinds,
    ),
    resetRequests: counter('reset_requests_total', 'Answered requests for a reset link, by outcome.', 'outcome'),
    mailsSent: byKind('mails_sent_total', 'Emails accepted by the mail server.', mailKinds),
    mailsRefused: byKind('mails_refused_total', 'Attempts refused by the mail server.', mailKinds),
    mailsGivenUp: byKind('mails_given_up_total', 'Emails that could not be delivered within a day.', mailKinds),
    mailServerDown: counter('mail_server_down_total', 'Times that the mail server was found to be down.'),
    singleSignOn: counter(
      'single_sign_on_total',
      'Visits to identity providers, by outcome: started, signed-in, second-factor-asked, or the reason for a refusal.',
      'connection',
      'outcome',
    ),
  };
}

/** Counts nothing, for a portal whose metrics nobody may read: it doesn't load the library. */
export function noMetrics(): Metrics {
  const nothing = { inc() {}, observe() {} };
  return {
    text: async () => '',
    contentType: 'text/plain',
    close() {},
    requests: nothing,
    requestTime: nothing,
    signIns: nothing,
    throttled: nothing,
    resetRequests: nothing,
    mailsSent: nothing,
    mailsRefused: nothing,
    mailsGivenUp: nothing,
    mailServerDown: nothing,
    singleSignOn: nothing,
  };
}
