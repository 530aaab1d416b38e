import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

// In steps: the test runner considers a worker dead after a minute of silence.
const run = promisify(execFile);

/** Debian's path; PGBOUNCER overrides it. */
export const pgbouncer = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer';

/** Null if PgBouncer is here or could be installed; else one sentence that says how to install it. */
export async function bringPgbouncer(): Promise<string | null> {
  if (existsSync(pgbouncer)) return null;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    return 'The tests of poolers need PgBouncer: install it (Debian: apt-get install pgbouncer) or set PGBOUNCER to the program.';
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    // Two test files may need it at once.
    const patient = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=3'];
    await run('apt-get', ['update'], { env });
    await run('apt-get', ['install', ...patient, '--yes', '--no-install-recommends', 'pgbouncer'], { env });
  } catch {
    return 'The tests of poolers need PgBouncer, and apt-get could not install it: put one there and set PGBOUNCER.';
  }
  return existsSync(pgbouncer) ? null : 'PgBouncer was installed but is not found: set PGBOUNCER to the program.';
}
