import { databaseAddresses } from '../config/database-addresses.ts';
import { loopbackNames } from '../config/loopback-names.ts';
import { findDurability } from '../storage/durability.ts';
import { stateOf } from '../storage/server-state.ts';
import type { Finding } from './doctor-checks.ts';
import { withDatabase } from './with-database.ts';

/** Whether what is sent to PostgreSQL and back can be read or changed on the way. */
export function checkLine(databaseUrl: string): Finding {
  const urls = (databaseAddresses(databaseUrl) ?? []).map((address) => new URL(address));
  if (urls.every(({ hostname }) => loopbackNames.includes(hostname))) return { ok: true, words: 'on this machine' };
  const mode = urls[0]?.searchParams.get('sslmode') ?? '';
  if (mode.startsWith('verify-')) return { ok: true, words: 'encrypted, and the certificate is checked' };
  const words =
    mode === 'require'
      ? 'encrypted, but the certificate is not checked, so another machine can pretend to be the database'
      : 'others on the network may read and change what is sent';
  return { ok: true, warning: true, words: `${words} – add sslmode=verify-full to DATABASE_URL` };
}

/** Whether exactly one of several servers is the primary, and the others are there to take over. */
export async function checkServers(addresses: readonly string[]): Promise<Finding> {
  const states = await Promise.all(addresses.map(stateOf));
  const words = states
    .map(
      (state) =>
        `${new URL(state.address).host} is ${state.role === 'away' ? `away: ${state.problem}` : `the ${state.role}`}`,
    )
    .join('; ');
  const primaries = states.filter(({ role }) => role === 'primary').length;
  if (primaries > 1)
    return { ok: false, words: `${words} – stop the one that was the primary before, and make it a standby again` };
  if (primaries === 0)
    return {
      ok: false,
      words: `${words} – bring the primary back; promote a standby only if the primary is certainly down, the one that is furthest ahead`,
    };
  if (states.some(({ role }) => role === 'away')) return { ok: true, warning: true, words };
  return { ok: true, words };
}

/** Whether a change that was acknowledged outlives PostgreSQL, its machine and a failover. */
export async function checkDurability(hasStandbys: boolean): Promise<Finding> {
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
  if (hasStandbys && !isWaitedFor)
    return {
      ok: true,
      warning: true,
      words: 'a failover may lose what was acknowledged last – set synchronous_standby_names (docs/operating.md)',
    };
  return {
    ok: true,
    words: isWaitedFor
      ? 'changes are acknowledged once they are on a standby, too'
      : 'changes are acknowledged once they are on disk',
  };
}
