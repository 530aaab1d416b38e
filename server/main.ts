import { availableParallelism } from 'node:os';
import { readConfig } from './config/config.ts';
import { openStorage } from './database/open-storage.ts';
import { createLog } from './http/request-log.ts';

/** Runs the server until it is told to stop. Throws an error with one readable sentence if it cannot start. */
export async function serve(): Promise<void> {
  // Node's pool has four threads unless set before its first use. More concurrent hashes than cores would only evict
  // each other from the cache; files and zlib wait for one hash at most.
  process.env.UV_THREADPOOL_SIZE ??= String(Math.max(2, availableParallelism()));
  const result = readConfig(process.env);
  if (result.kind === 'refused') throw new Error(['the configuration is not valid', ...result.problems].join('\n  '));
  const { config } = result;
  const log = createLog(process.env.LOG_LEVEL || 'info');
  const [storage, { runPortal }] = await Promise.all([
    openStorage(config, { info: (text) => log.info(text), warn: (text) => log.warn(text) }),
    // The built-in PostgreSQL starts while the rest of the code is loaded.
    import('./run-portal.ts'),
  ]);
  await runPortal(config, log, storage);
}
