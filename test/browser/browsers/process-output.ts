import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Waits until a process has printed something; throws with its output if it ends before, or in half a minute. */
export async function printed(
  child: ChildProcess,
  stream: 'stdout' | 'stderr',
  pattern: RegExp,
): Promise<RegExpExecArray> {
  let output = '';
  return await new Promise((resolve, reject) => {
    const late = setTimeout(() => fail('is not ready after half a minute'), 30_000);
    const fail = (what: string) => {
      clearTimeout(late);
      reject(new Error(`${child.spawnfile} ${what}: ${output}`));
    };
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code) => fail(`ended with ${code}`));
    child[stream]?.on('data', (data: Buffer) => {
      output += data;
      const found = pattern.exec(output);
      if (!found) return;
      clearTimeout(late);
      resolve(found);
    });
  });
}

/** Ends a process that is still running. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.kill();
  await exited;
}
