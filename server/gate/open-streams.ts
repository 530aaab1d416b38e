import type { Deps } from '../deps/deps.ts';
import { findCheckedSessions } from '../storage/session.ts';
import { findVisitorSession } from '../storage/visitor-session.ts';

/** A request or a WebSocket that is passed on. */
export type OpenStream = {
  /** Of its session; null for a stream of nobody. */
  tokenHash: Buffer | null;
  address: string;
  /** Whether it ends only when somebody ends it: the portal's stop does not wait for it. */
  isEndless: boolean;
  close: () => void;
};

type StreamOfSession = OpenStream & { tokenHash: Buffer };

/** Closes what is passed on when its session has ended: that is looked at every so many milliseconds, and counts as no use. */
export function openStreams({ sql, config, now, log }: Deps, lookEvery: number) {
  const streams = new Set<OpenStream>();
  let isLooking = false;

  async function look(): Promise<void> {
    const ofSessions = [...streams].filter((stream): stream is StreamOfSession => stream.tokenHash !== null);
    if (ofSessions.length === 0) return;
    const at = now();
    const idleSince = new Date(at.getTime() - config.sessionIdle);
    const checked = await findCheckedSessions(sql, ofSessions);
    for (const [index, { tokenHash, address, close }] of ofSessions.entries()) {
      const kept = checked[index];
      const isOpen = kept
        ? kept.endsAt > at && kept.lastSeenAt > idleSince
        : (await findVisitorSession(sql, tokenHash, { address, idleSince, now: at })).kind === 'full';
      if (!isOpen) close();
    }
  }

  const timer = setInterval(async () => {
    if (isLooking) return;
    isLooking = true;
    await look().catch((error: unknown) =>
      log.warn({ err: error }, 'the sessions of open streams could not be checked'),
    );
    isLooking = false;
  }, lookEvery).unref();

  return {
    /** Watches a stream; call what is returned when it has ended. */
    add(stream: OpenStream): () => void {
      streams.add(stream);
      return () => void streams.delete(stream);
    },
    /** Ends those that would delay the portal's stop. */
    stop(): void {
      clearInterval(timer);
      for (const { isEndless, close } of streams) if (isEndless) close();
    },
  };
}
