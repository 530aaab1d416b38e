import { loopbackNames } from '#server/config/loopback-names.ts';
import { findDurability, findStatementSettings } from '#server/database/database-settings.ts';
import type { Finding } from './doctor-checks.ts';
import { withDatabase } from './with-database.ts';

/** Whether what is sent to PostgreSQL and back can be read or changed on the way. */
export function checkLine(databaseUrl: string): Finding {
  const { hostname, searchParams } = new URL(databaseUrl);
  if (loopbackNames.includes(hostname)) return { ok: true, words: 'on this machine' };
  const mode = searchParams.get('sslmode') ?? '';
  if (mode === 'verify-full') return { ok: true, words: 'encrypted, and the certificate is checked' };
  const words =
    mode === 'require'
      ? 'encrypted, but the certificate is not checked, so another machine can pretend to be the database'
      : 'others on the network may read and change what is sent';
  return { ok: true, warning: true, words: `${words} – add sslmode=verify-full to DATABASE_URL` };
}

/** Whether a change that was acknowledged outlives PostgreSQL, its machine and a failover. */
export async function checkDurability(): Promise<Finding> {
  const { fsync, fullPageWrites, synchronousCommit, synchronousStandbys } = await withDatabase(findDurability);
  const off = [
    ...(fsync ? [] : ['fsync']),
    ...(fullPageWrites ? [] : ['full_page_writes']),
    ...(synchronousCommit === 'off' ? ['synchronous_commit'] : []),
  ];
  if (off.length > 0)
    return {
      ok: true,
      warning: true,
      words: `changes that were acknowledged may be lost – set ${off.join(', ')} to on in PostgreSQL`,
    };
  const isWaitedFor = synchronousStandbys !== '' && synchronousCommit !== 'local';
  return {
    ok: true,
    words: isWaitedFor
      ? 'changes are acknowledged once they are on a standby, too'
      : 'changes are acknowledged once they are on disk',
  };
}

/** Whether there is a pooler in front of the database, and whether it drops the statement timeout. */
export async function checkPooler(): Promise<Finding> {
  const { isPrepared, timeout, role, database } = await withDatabase(findStatementSettings);
  const words = isPrepared
    ? 'no pooler; statements are prepared'
    : 'pooler; statements are not prepared, which costs some speed';
  if (timeout > 0) return { ok: true, words };
  const remedy = `run "alter role ${role} in database ${database} set statement_timeout = '5s'", then RECONNECT the pooler`;
  return { ok: false, words: `${words}; statements have no time limit – ${remedy}` };
}
