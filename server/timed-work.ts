import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel';

/** A piece of work while it is timed; `error` is set if it failed. */
export type TimedWork = {
  /** What differs between pieces of one kind, without any value of a user. */
  detail?: string;
  error?: unknown;
};

type Channel = TracingChannel<TimedWork, TimedWork>;

/** Work that metrics and traces time. While neither is on, nobody listens, and it costs nothing. */
export const timedWork = {
  /** A statement for the database, from when it is sent or waits for a connection; `detail` is its text. */
  statement: tracingChannel('vestibule:statement') as Channel,
  passwordHash: tracingChannel('vestibule:password-hash') as Channel,
  /** `detail` is the provider's host. */
  providerRequest: tracingChannel('vestibule:provider-request') as Channel,
  /** `detail` is the kind of the email. */
  mail: tracingChannel('vestibule:mail') as Channel,
};

export type KindOfWork = keyof typeof timedWork;

/** Does the work, timed as one piece. */
export function timed<T>(kind: KindOfWork, detail: string | undefined, work: () => Promise<T>): Promise<T> {
  const channel = timedWork[kind];
  return channel.hasSubscribers ? channel.tracePromise(work, detail === undefined ? {} : { detail }) : work();
}

/** Calls `begun` for each piece of a kind, and what it returns when the piece ends. Returns what stops that. */
export function onTimedWork(kind: KindOfWork, begun: (work: TimedWork) => (work: TimedWork) => void): () => void {
  const endings = new WeakMap<TimedWork, (work: TimedWork) => void>();
  const subscribers = {
    start: (work: TimedWork) => void endings.set(work, begun(work)),
    asyncEnd: (work: TimedWork) => {
      const ended = endings.get(work);
      // Only the first end counts: postgres.js may reject a statement twice.
      endings.delete(work);
      ended?.(work);
    },
  };
  timedWork[kind].subscribe(subscribers as Parameters<Channel['subscribe']>[0]);
  return () => void timedWork[kind].unsubscribe(subscribers as Parameters<Channel['unsubscribe']>[0]);
}
