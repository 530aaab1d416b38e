import { readFile, stat } from 'node:fs/promises';

/** The operating system account that PostgreSQL runs as; null for our own. */
export type RunAs = { uid: number; gid: number } | null;

/**
 * The account for the built-in PostgreSQL, which refuses to run as root: our own unless we are root; else the owner of
 * an existing cluster, else `postgres` or `nobody`. Throws an error with one readable sentence if there is none.
 */
export async function accountForPostgres(clusterFolder: string): Promise<RunAs> {
  if (process.getuid?.() !== 0) return null;
  if (process.platform !== 'linux') {
    throw new Error(
      'The built-in PostgreSQL does not run as root here: start as an ordinary user, or set DATABASE_URL.',
    );
  }
  const owner = await stat(clusterFolder).catch(() => null);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const accounts = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const account = accountOf(accounts, 'postgres') ?? accountOf(accounts, 'nobody');
  if (account) return account;
  throw new Error(
    'PostgreSQL refuses to run as root and there is no user "postgres" or "nobody": start as an ordinary user, or set DATABASE_URL.',
  );
}

function accountOf(accounts: string, name: string): RunAs {
  const fields = accounts
    .split('\n')
    .map((line) => line.split(':'))
    .find(([first]) => first === name);
  const [uid, gid] = [Number(fields?.[2]), Number(fields?.[3])];
  return uid > 0 && gid > 0 ? { uid, gid } : null;
}
