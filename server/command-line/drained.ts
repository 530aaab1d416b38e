import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { failure } from './failure.ts';

/** Waits until the reader of an export has caught up. Throws a failure if it is gone. */
export async function drained(stream: Writable): Promise<void> {
  const gone = failure('Standard output was closed; the export is incomplete.');
  if (stream.destroyed) throw gone;
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]);
  } catch {
    throw gone;
  } finally {
    // Removes the listeners of the event that did not happen.
    waiting.abort();
  }
  if (stream.destroyed) throw gone;
}
