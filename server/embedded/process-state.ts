import { readFile } from 'node:fs/promises';

/** `ended`: it ended, but its parent has not noticed, so that its number is still taken. */
export type ProcessState = 'none' | 'ended' | 'running';

/** Whether a process with this number exists, and its name if the system reports it, else null. */
export async function processState(pid: number): Promise<{ state: ProcessState; name: string | null }> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return { state: 'none', name: null };
  }
  if (process.platform !== 'linux') return { state: 'running', name: null };
  // proc(5): the number, the name in parentheses, the state.
  const [, name = null, letter] = /^\d+ \((.*)\) (\S)/s.exec(await readStatus(pid)) ?? [];
  if (name === null) return { state: 'none', name };
  return { state: letter === 'Z' || letter === 'X' ? 'ended' : 'running', name };
}

async function readStatus(pid: number): Promise<string> {
  return await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
}
