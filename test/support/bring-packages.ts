import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

// In steps: the test runner considers a worker dead after a minute of silence.
const run = promisify(execFile);

// Two test files may need it at once.
const patient = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=3'];

/**
 * Null if a program is here or Debian's packages could be installed; otherwise `whereFrom`, a sentence that says how to
 * install it. Services among the packages are not started.
 */
export async function bringPackages(
  packages: readonly string[],
  isHere: () => boolean | Promise<boolean>,
  whereFrom: string,
): Promise<string | null> {
  if (await isHere()) return null;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return whereFrom;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  try {
    await run('apt-get', ['update'], { env });
    await run('apt-get', ['install', ...patient, '--yes', '--no-install-recommends', ...packages], { env });
  } catch (error) {
    return `${whereFrom} (apt-get could not: ${(error as { stderr?: string }).stderr?.trim().split('\n').at(-1)})`;
  }
  return (await isHere()) ? null : `${whereFrom} (It was installed, but does not work.)`;
}
