import { existsSync } from 'node:fs';
import { bringPackages } from './bring-packages.ts';

/** Debian's path; PGBOUNCER overrides it. */
export const pgbouncer = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer';

/** Null if PgBouncer is here or could be installed; else one sentence that says how to install it. */
export async function bringPgbouncer(): Promise<string | null> {
  return await bringPackages(
    ['pgbouncer'],
    () => existsSync(pgbouncer),
    'The tests of poolers need PgBouncer: install it (Debian: apt-get install pgbouncer) or set PGBOUNCER to the program.',
  );
}
