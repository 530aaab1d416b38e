import type { Registry } from 'prom-client';
import { type KindOfWork, onTimedWork } from '../timed-work.ts';

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** How long each kind of work takes, in seconds, until the returned function is called. */
export function timeWork({ Histogram }: typeof import('prom-client'), registry: Registry): () => void {
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name: `vestibule_${name}`, help, labelNames: ['outcome'], buckets, registers: [registry] });
  const histograms: Record<KindOfWork, ReturnType<typeof histogram>> = {
    statement: histogram(
      'database_seconds',
      'Time of database statements, waiting for a connection included.',
      seconds,
    ),
    passwordHash: histogram('password_hash_seconds', 'Time to hash or check a password, without waiting.', seconds),
    providerRequest: histogram(
      'provider_request_seconds',
      'Time of requests to identity providers.',
      [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8],
    ),
    mail: histogram('mail_seconds', 'Time to hand an email to the mail server.', [0.05, 0.25, 1, 2.5, 5, 10, 30]),
  };
  const stops = Object.entries(histograms).map(([kind, times]) =>
    onTimedWork(kind as KindOfWork, () => {
      const begun = performance.now();
      return ({ error }) =>
        times.observe({ outcome: error === undefined ? 'done' : 'failed' }, (performance.now() - begun) / 1000);
    }),
  );
  return () => {
    for (const stop of stops) stop();
  };
}
