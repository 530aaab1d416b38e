import { readFile } from 'node:fs/promises';
import { report } from './figures.ts';

/** Notes the highest resident memory of a process until it is stopped, which returns it in bytes. */
export function watchMemory(pid: number): { stop: () => number } {
  let peak = 0;
  const look = async () => {
    peak = Math.max(peak, await residentMemory(pid));
  };
  const timer = setInterval(look, 50);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}

/** Reports the memory of a server that has just started and answered its first page. */
export async function measureMemoryAtRest(pid: number): Promise<void> {
  reportMemory('memory at rest', await residentMemory(pid), 120);
}

/** Reports memory in bytes against the most that it should be, in MB (10^6 bytes). */
export function reportMemory(what: string, bytes: number, most: number): void {
  const size = bytes / 1e6;
  report(what, `${Math.round(size)} MB`, `at most ${most} MB`, size <= most);
}

/** The resident memory of a process in bytes. */
export async function residentMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}
