import type { Deps } from '../deps.ts';
import { findFullSessions } from '../sessions/who.ts';

/** A request or a WebSocket that is passed on. */
export type OpenStream = {
  /** Of its session; null for a stream of nobody. */
  tokenHash: Buffer | null;
  /** The keys of the customers that the hub was told. */
  customers: readonly string[];
  address: string;
  /** Whether it ends only when somebody ends it: the portal's stop does not wait for it. */
  isEndless: boolean;
  close: () => void;
};

/**
 * Closes what is passed on when its session has ended, or is for other customers: that is looked at every so many
 * milliseconds, and counts as no use.
 */
export function openStreams({ sql, config, now, log }: Deps, lookEvery: number) {
  const streams = new Set<OpenStream>();

  async function look(): Promise<void> {
    const at = now();
    const idleSince = new Date(at.getTime() - config.sessionIdle);
    for (const stream of streams) {
      const { tokenHash, address, customers } = stream;
      if (tokenHash === null) continue;
      const [session] = await findFullSessions(sql, [{ tokenHash, address }], { idleSince, now: at });
      if (session?.customers.join() !== customers.join()) stream.close();
    }
  }

  function closeEndless(): void {
    for (const { isEndless, close } of streams) if (isEndless) close();
  }

  const lookAgain = () =>
    void look().catch((error: unknown) =>
      log.warn({ err: error }, 'the sessions of open streams could not be checked'),
    );
  const timer = setInterval(lookAgain, lookEvery).unref();

  return {
    /** Watches a stream; call what is returned when it has ended. */
    add(stream: OpenStream): () => void {
      streams.add(stream);
      return () => void streams.delete(stream);
    },
    /** Ends those that would delay the portal's stop, and those that begin meanwhile. */
    stop(): void {
      clearInterval(timer);
      closeEndless();
      setInterval(closeEndless, lookEvery).unref();
    },
  };
}
