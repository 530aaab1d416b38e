import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

// In steps: the test runner considers a worker dead after a minute of silence.
const run = promisify(execFile);

// Two test files may need it at once.
const patient = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=3'];

/** Installs Debian's packages unless what a test needs of them is here; throws a sentence that says how to, if it cannot. */
export async function bringPackages(
  packages: readonly string[],
  isHere: () => boolean | Promise<boolean>,
): Promise<void> {
  if (await isHere()) return;
  const complaint = `These tests need what Debian has by apt-get install --no-install-recommends ${packages.join(' ')}`;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) throw new Error(complaint);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  try {
    await run('apt-get', ['update'], { env });
    await run('apt-get', ['install', ...patient, '--yes', '--no-install-recommends', ...packages], { env });
  } catch (cause) {
    throw new Error(complaint, { cause });
  }
  if (!(await isHere())) throw new Error(`${complaint} (it was installed, but does not work)`);
}
