import { readdirSync, readFileSync } from 'node:fs';
import { findPostgresProcess } from '#server/database/embedded/process.ts';

/** Sends a signal to PostgreSQL's first process, or to all of them. */
export async function signalPostgres(
  cluster: string,
  signal: NodeJS.Signals,
  whom: 'first' | 'all' = 'first',
): Promise<void> {
  const first = await findPostgresProcess(cluster);
  if (first === null) throw new Error('PostgreSQL is not running');
  for (const pid of whom === 'first' ? [first] : [first, ...childrenOf(first)]) process.kill(pid, signal);
}

function childrenOf(parent: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.map(Number).filter((pid) => parentOf(pid) === parent);
}

/** Null if the process has ended meanwhile. */
function parentOf(pid: number): number | null {
  try {
    // The name before it, in parentheses, may hold anything.
    const [, parent] = /^.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return Number(parent);
  } catch {
    return null;
  }
}
