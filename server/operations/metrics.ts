import packageFile from '../../package.json' with { type: 'json' };
import { hashesInQueue } from '../crypto/password-hash.ts';
import { nullIfDatabaseAway } from '../database/connect.ts';
import type { Deps, Metrics } from '../deps.ts';
import { findHubKeyReplacement } from '../hub/hub-keys.ts';
import { oldestJobs } from '../jobs/job.ts';
import { mailQueueName } from '../mail/queue-mail.ts';
import { mailKinds } from '../people/mail-kinds.ts';
import { listEnds } from '../single-sign-on/sso-warnings.ts';

/** Figures of this process, and some of the database, which are NaN or absent while it is down. */
export async function createMetrics({ sql, now }: Pick<Deps, 'sql' | 'now'>): Promise<Metrics> {
  const { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } = await import('@prometheus-io/client');
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string, labelNames: string[], collect: (it: Readings) => void | Promise<void>) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        return collect(this);
      },
    });
  const secondsTo = (at: Date) => (at.getTime() - now().getTime()) / 1000;

  collectDefaultMetrics({ register: registry });
  gauge('vestibule_build_info', 'Always 1; the labels say what runs.', ['version', 'node'], (it) =>
    it.set({ version: packageFile.version, node: process.versions.node }, 1),
  );
  gauge('vestibule_password_hashes_waiting', 'Passwords waiting to be hashed or checked.', [], (it) =>
    it.set({}, hashesInQueue().waiting),
  );
  gauge('vestibule_jobs_oldest_wait_seconds', 'Age of the oldest job of each queue.', ['queue'], async (it) => {
    it.reset();
    const jobs = await oldestJobs(sql).catch(nullIfDatabaseAway);
    it.set({ queue: mailQueueName }, jobs ? 0 : Number.NaN);
    for (const { queue, madeAt } of jobs ?? []) it.set({ queue }, Math.max(0, -secondsTo(madeAt)));
  });
  const what = 'Until certificates, client secrets and the portal key expire, and hub keys are replaced.';
  gauge('vestibule_ends_seconds', what, ['connection', 'what'], async (it) => {
    it.reset();
    const replacedAt = await findHubKeyReplacement(sql, now()).catch(nullIfDatabaseAway);
    if (replacedAt) it.set({ connection: '', what: 'hub key' }, secondsTo(replacedAt));
    for (const { connection, what, endsAt } of (await listEnds(sql).catch(nullIfDatabaseAway)) ?? [])
      it.set({ connection: connection ?? '', what }, secondsTo(endsAt));
  });
  const mailsGivenUp = counter('vestibule_mails_given_up_total', 'Emails not delivered within a day.', ['kind']);
  // From 0 on, or the first of a kind would be no increase, and no alert.
  for (const kind of mailKinds) mailsGivenUp.inc({ kind }, 0);
  return {
    text: () => registry.metrics(),
    contentType: registry.contentType,
    requests: new Histogram({
      name: 'vestibule_request_seconds',
      help: 'Time from a request to its answer.',
      labelNames: ['route', 'status'],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    signIns: counter('vestibule_sign_ins_total', 'Checked sign-ins, by the last proof and what came of it.', [
      'method',
      'outcome',
    ]),
    mailsGivenUp,
    singleSignOn: counter('vestibule_single_sign_on_total', 'Visits to identity providers, by what came of them.', [
      'connection',
      'outcome',
    ]),
  };
}

type Readings = { set: (labels: Record<string, string>, value: number) => void; reset: () => void };

/** Counts nothing, for a portal whose metrics nobody may read: it doesn't load the library. */
export function noMetrics(): Metrics {
  const nothing = { inc() {}, observe() {} };
  return {
    text: async () => '',
    contentType: 'text/plain',
    requests: nothing,
    signIns: nothing,
    mailsGivenUp: nothing,
    singleSignOn: nothing,
  };
}
