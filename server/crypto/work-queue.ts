/** The queue is full. */
export class WorkQueueFull extends Error {}

export type WorkQueue = {
  inTurn: <T>(origin: Origin, work: () => Promise<T>) => Promise<T>;
  /** Throws WorkQueueFull if more work of an origin would be refused: to be called before anything is counted or changed. */
  refuseWhenFull: (origin: Origin) => void;
  /** How many pieces run and wait now. */
  length: () => { running: number; waiting: number };
};

/**
 * A queue for heavy work: at most `atOnce` pieces run and at most `mostWaiting` wait, the origins in turns. If all places are
 * taken, a newcomer gets one of the origin with the most, or throws WorkQueueFull, as does the piece that loses its place. A
 * piece that runs does so until its work ends, even if nobody waits for the result any more, so that disconnecting early gains
 * nobody a second one.
 */
export function workQueue(atOnce: number, mostWaiting: number): WorkQueue {
  let running = 0;
  const waiting = fairLine<{ begin: () => void; refuse: (error: WorkQueueFull) => void }>();

  const isFull = () => running >= atOnce && waiting.length >= mostWaiting;

  function refuseWhenFull(origin: Origin) {
    if (isFull() && !mayReplace(waiting, origin)) throw new WorkQueueFull();
  }

  async function inTurn<T>(origin: Origin, work: () => Promise<T>): Promise<T> {
    refuseWhenFull(origin);
    if (isFull()) takeReplaced(waiting, origin)?.refuse(new WorkQueueFull());
    if (running < atOnce) running += 1;
    else await new Promise<void>((begin, refuse) => joinLine(waiting, origin, { begin, refuse }));
    try {
      return await work();
    } finally {
      const next = takeNext(waiting);
      if (next) next.begin();
      else running -= 1;
    }
  }

  return { inTurn, refuseWhenFull, length: () => ({ running, waiting: waiting.length }) };
}

/** Where something that waits comes from: the names of its networks, the widest first. None is the beginning of another. */
export type Origin = readonly [string, ...string[]];

/** What waits of one network: divided into narrower ones, in the order of their turns, or undivided, the oldest first. */
export type FairLine<T> = { length: number; parts: Map<string, FairLine<T>>; items: T[] };

/**
 * A line in which networks take turns, and the narrower ones within each; within an origin it is first come, first served. So
 * whoever sends much makes only themselves wait, and may use everything while nobody else comes.
 */
export function fairLine<T>(): FairLine<T> {
  return { length: 0, parts: new Map(), items: [] };
}

export function joinLine<T>(line: FairLine<T>, [network, ...narrower]: readonly string[], item: T): void {
  line.length += 1;
  if (network === undefined) {
    line.items.push(item);
    return;
  }
  const part = line.parts.get(network) ?? fairLine<T>();
  line.parts.set(network, part);
  joinLine(part, narrower, item);
}

/** Takes out the item whose turn it is; undefined if none waits. */
export function takeNext<T>(line: FairLine<T>): T | undefined {
  return takeOut(line, 'oldest', wayToNext(line));
}

/** Whether one that waits would have to give its place to a newcomer of this origin. */
export function mayReplace<T>(line: FairLine<T>, newcomer: Origin): boolean {
  return wayToReplaced(line, newcomer) !== null;
}

/** Takes out the one that gives its place to a newcomer: the newest of the origin with the most; undefined if none has to. */
export function takeReplaced<T>(line: FairLine<T>, newcomer: Origin): T | undefined {
  const way = wayToReplaced(line, newcomer);
  return way ? takeOut(line, 'newest', way) : undefined;
}

function wayToNext<T>({ parts }: FairLine<T>): string[] {
  const [first] = parts;
  return first ? [first[0], ...wayToNext(first[1])] : [];
}

/** A place changes hands only if that makes the line more even, or it would go to and fro between two. */
function wayToReplaced<T>(line: FairLine<T>, [network, ...narrower]: readonly string[]): string[] | null {
  if (network === undefined) return null;
  const own = line.parts.get(network);
  const most = longestPart(line);
  if (most && (own?.length ?? 0) + 1 < most[1].length) return wayToMost(line);
  const way = own ? wayToReplaced(own, narrower) : null;
  return way && [network, ...way];
}

function wayToMost<T>(line: FairLine<T>): string[] {
  const most = longestPart(line);
  return most ? [most[0], ...wayToMost(most[1])] : [];
}

function longestPart<T>({ parts }: FairLine<T>): [string, FairLine<T>] | null {
  let longest: [string, FairLine<T>] | null = null;
  for (const entry of parts) if (!longest || entry[1].length > longest[1].length) longest = entry;
  return longest;
}

function takeOut<T>(line: FairLine<T>, which: 'oldest' | 'newest', [network, ...narrower]: string[]): T | undefined {
  if (line.length === 0) return undefined;
  line.length -= 1;
  if (network === undefined) return which === 'oldest' ? line.items.shift() : line.items.pop();
  const part = line.parts.get(network) as FairLine<T>;
  const item = takeOut(part, which, narrower);
  // Who had a turn comes last.
  if (which === 'oldest' || part.length === 0) line.parts.delete(network);
  if (which === 'oldest' && part.length > 0) line.parts.set(network, part);
  return item;
}
