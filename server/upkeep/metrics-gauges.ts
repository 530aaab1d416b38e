import type { Gauge as GaugeType, Registry } from 'prom-client';
import packageFile from '../../package.json' with { type: 'json' };
import type { Deps } from '../deps/deps.ts';
import { hubKeyTurn } from '../hub/hub-key-turn.ts';
import { limits } from '../limits.ts';
import { hashesInQueue } from '../secrets/password-hash.ts';
import { listEnds } from '../single-sign-on/what-ends.ts';
import { nullIfDatabaseAway } from '../storage/connect.ts';
import { countWaitingMails } from '../storage/mail.ts';
import { countSessions } from '../storage/session.ts';

/** Figures that are read when somebody asks. While the database is down, those from it are NaN or absent. */
export function registerGauges(
  { Gauge }: typeof import('prom-client'),
  registry: Registry,
  { config, sql, now }: Pick<Deps, 'config' | 'sql' | 'now'>,
): void {
  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    collect: (gauge: GaugeType<Label>) => void | Promise<void>,
  ) =>
    new Gauge({
      name: `vestibule_${name}`,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        await collect(this);
      },
    });

  const versions = { version: packageFile.version, node: process.versions.node };
  gauge('build_info', 'Always 1; the labels say what runs.', ['version', 'node'], (it) => it.set(versions, 1));
  gauge('password_hashes_running', 'Passwords being hashed or checked.', [], (it) => it.set(hashesInQueue().running));
  gauge(
    'password_hashes_waiting',
    `Passwords waiting for that; at ${limits.waitingHashes}, sign-ins of the network with the most get 503.`,
    [],
    (it) => it.set(hashesInQueue().waiting),
  );

  const mails = () => countWaitingMails(sql).catch(nullIfDatabaseAway);
  gauge('mails_waiting', 'Emails in the queue.', [], async (it) => it.set((await mails())?.count ?? Number.NaN));
  gauge('mails_oldest_wait_seconds', 'Age of the oldest email in the queue.', [], async (it) => {
    const waiting = await mails();
    const age = (at: Date | null) => (at ? Math.max(0, (now().getTime() - at.getTime()) / 1000) : 0);
    it.set(waiting ? age(waiting.oldestAt) : Number.NaN);
  });
  const sessions = kept(limits.metricsCountedEvery, now, () =>
    countSessions(sql, { idleSince: new Date(now().getTime() - config.sessionIdle), now: now() }),
  );
  gauge('sessions', 'Sessions that are alive, by stage; counted once a minute.', ['stage'], async (it) => {
    const counts = await sessions();
    it.reset();
    for (const stage of ['full', 'half'] as const) it.set({ stage }, counts?.[stage] ?? Number.NaN);
  });
  gauge(
    'ends_seconds',
    'Time until certificates, client secrets and the portal key expire, and until hub keys are replaced; negative afterwards.',
    ['connection', 'what'],
    async (it) => {
      const ends = (await listEnds(sql).catch(nullIfDatabaseAway)) ?? [];
      const hubKeys = await hubKeyTurn(sql, now()).catch(nullIfDatabaseAway);
      it.reset();
      if (hubKeys) it.set({ connection: '', what: 'hub key' }, (hubKeys.replacedAt.getTime() - now().getTime()) / 1000);
      for (const { connection, what, endsAt } of ends)
        it.set({ connection: connection ?? '', what }, (endsAt.getTime() - now().getTime()) / 1000);
    },
  );
}

/** A figure of the database that is read again after `time` milliseconds; null while the database is down. */
function kept<T>(time: number, now: () => Date, read: () => Promise<T>): () => Promise<T | null> {
  let last: { at: number; figure: T } | null = null;
  return async () => {
    const at = now().getTime();
    if (last && at - last.at < time) return last.figure;
    const figure = await read().catch(nullIfDatabaseAway);
    last = figure === null ? null : { at, figure };
    return figure;
  };
}
