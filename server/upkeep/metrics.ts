import type { Metrics } from '../deps/metrics.ts';
import { listEnds } from '../single-sign-on/what-ends.ts';
import { nullIfDatabaseAway } from '../storage/connect.ts';
import type { Database } from '../storage/database.ts';
import { countWaitingMails, type WaitingMails } from '../storage/mail.ts';

/** Counters of this process, and gauges that query the database when read. Names are listed in docs/operating.md. */
export async function createMetrics(sql: Database, now: () => Date): Promise<Metrics> {
  const { Counter, collectDefaultMetrics, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string) =>
    new Counter({ name: `vestibule_${name}`, help, labelNames: ['kind'] as const, registers });
  const gauge = (name: string, help: string, figure: (waiting: WaitingMails) => number) =>
    new Gauge({
      name: `vestibule_${name}`,
      help,
      registers,
      async collect() {
        // While the database is down the other figures matter even more.
        const waiting = await countWaitingMails(sql).catch(nullIfDatabaseAway);
        this.set(waiting ? figure(waiting) : Number.NaN);
      },
    });
  new Gauge({
    name: 'vestibule_ends_seconds',
    help: 'Time until certificates, client secrets and the portal key expire; negative afterwards.',
    labelNames: ['connection', 'what'] as const,
    registers,
    async collect() {
      const ends = (await listEnds(sql).catch(nullIfDatabaseAway)) ?? [];
      this.reset();
      for (const { connection, what, endsAt } of ends)
        this.set({ connection: connection ?? '', what }, (endsAt.getTime() - now().getTime()) / 1000);
    },
  });
  collectDefaultMetrics({ register: registry });
  gauge('mails_waiting', 'Emails in the queue.', ({ count }) => count);
  gauge('mails_oldest_wait_seconds', 'Age of the oldest email in the queue.', ({ oldestAt }) =>
    oldestAt ? Math.max(0, (now().getTime() - oldestAt.getTime()) / 1000) : 0,
  );
  return {
    text: () => registry.metrics(),
    contentType: registry.contentType,
    mailsSent: counter('mails_sent_total', 'Emails accepted by the mail server.'),
    mailsRefused: counter('mails_refused_total', 'Attempts refused by the mail server.'),
    singleSignOn: new Counter({
      name: 'vestibule_single_sign_on_total',
      help: 'Visits to identity providers, by outcome: started, signed-in, second-factor-asked, or the reason for a refusal.',
      labelNames: ['connection', 'outcome'] as const,
      registers,
    }),
    mailsGivenUp: counter('mails_given_up_total', 'Emails that could not be delivered within a day.'),
  };
}

/** Counts nothing, for a portal whose metrics nobody may read: it doesn't load the library. */
export function noMetrics(): Metrics {
  const nothing = { inc() {} };
  return {
    text: async () => '',
    contentType: 'text/plain',
    mailsSent: nothing,
    mailsRefused: nothing,
    mailsGivenUp: nothing,
    singleSignOn: nothing,
  };
}
