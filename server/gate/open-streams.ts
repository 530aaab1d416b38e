import type { SessionAnswer } from '#contract/payloads.ts';
import type { IdentityHeaders } from '../config/identity-headers.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { identityHeaders, type NamedPerson } from '../session/identity-headers.ts';
import { findCheckedSessions } from '../storage/session.ts';
import { originKeys } from '../storage/throttle-keys.ts';
import { findVisitorSession } from '../storage/visitor-session.ts';

/** A stream that outlasts the check of its request: an answer, an upload or a WebSocket. */
export type OpenStream = {
  /** Of its session; null for a stream of nobody. */
  tokenHash: Buffer | null;
  /** Whose it is; null for nobody's. */
  userId: string | null;
  address: string;
  /** Who the hub was told that it is; null for nobody. */
  person: SessionAnswer | null;
  /** Whether the portal's stop closes it, or waits for the hub's answer. */
  closesAtStop: () => boolean;
  close: () => void;
};

/** The open streams of visitors. */
export type OpenStreams = {
  /** Watches a stream, and closes the oldest one of who has too many; call what is returned when it has ended. */
  add: (stream: OpenStream) => () => void;
  /** Closes those whose sessions have ended, or of which the hub would now be told something else. */
  look: () => Promise<void>;
  /** Closes those that would delay the portal's stop. */
  stop: () => void;
};

/** Watches streams; a look at their sessions does not count as use. `now` counts in milliseconds. */
export function openStreams(deps: Pick<Deps, 'sql' | 'config' | 'now' | 'log'>): OpenStreams {
  const streams = new Map<OpenStream, { checkedAt: number }>();
  /** By whose they are, oldest first: each takes two connections, of which there are a limited number. */
  const owned = new Map<string, Set<OpenStream>>();

  let isLooking = false;

  async function look(): Promise<void> {
    const looked = [...streams.keys()].filter(hasSession);
    if (looked.length === 0 || isLooking) return;
    isLooking = true;
    const at = performance.now();
    try {
      const open = await areOpen(deps, looked);
      for (const [index, stream] of looked.entries()) {
        if (!open[index]) stream.close();
        else if (streams.has(stream)) streams.set(stream, { checkedAt: at });
      }
    } catch (error) {
      deps.log.warn({ err: error }, 'the sessions of open streams could not be checked');
      for (const [stream, { checkedAt }] of streams)
        if (hasSession(stream) && at - checkedAt > limits.hub.unchecked) stream.close();
    } finally {
      isLooking = false;
    }
  }

  return {
    add(stream) {
      streams.set(stream, { checkedAt: performance.now() });
      const { key, most } = ownerOf(stream);
      const theirs = owned.get(key) ?? new Set();
      owned.set(key, theirs.add(stream));
      const [oldest = stream] = theirs;
      if (theirs.size > most) {
        theirs.delete(oldest);
        oldest.close();
      }
      return () => {
        streams.delete(stream);
        theirs.delete(stream);
        if (theirs.size === 0 && owned.get(key) === theirs) owned.delete(key);
      };
    },
    look,
    stop: () => {
      for (const stream of streams.keys()) if (stream.closesAtStop()) stream.close();
    },
  };
}

function ownerOf({ userId, address }: OpenStream): { key: string; most: number } {
  if (userId !== null) return { key: userId, most: limits.hub.streamsOfUser };
  return { key: originKeys(address)[0].key, most: limits.hub.streamsOfAddress };
}

type StreamOfSession = OpenStream & { tokenHash: Buffer; person: SessionAnswer };

function hasSession(stream: OpenStream): stream is StreamOfSession {
  return stream.tokenHash !== null && stream.person !== null;
}

async function areOpen(
  { sql, config, now }: Pick<Deps, 'sql' | 'config' | 'now'>,
  streams: readonly StreamOfSession[],
): Promise<boolean[]> {
  const at = now();
  const idleSince = new Date(at.getTime() - config.sessionIdle);
  const checked = await findCheckedSessions(sql, streams);
  const open: boolean[] = [];
  for (const [index, stream] of streams.entries()) {
    const kept = checked[index];
    if (kept) {
      const isAlive = kept.endsAt > at && kept.lastSeenAt > idleSince;
      open.push(isAlive && isToldTheSame(config.identityHeaders, stream.person, JSON.parse(kept.answer)));
    } else {
      const { tokenHash, address, person } = stream;
      const found = await findVisitorSession(sql, tokenHash, { address, idleSince, now: at });
      open.push(found.kind === 'full' && isToldTheSame(config.identityHeaders, person, found.session));
    }
  }
  return open;
}

/** With the same customers a path that was open still is: rules are for customers. */
function isToldTheSame(names: IdentityHeaders, then: NamedPerson, now: NamedPerson): boolean {
  const told = (person: NamedPerson) => JSON.stringify(identityHeaders(names, person, null));
  return told(then) === told(now);
}
