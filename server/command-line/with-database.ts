import type { Config } from '../config/config.ts';
import { openStorage, type Storage } from '../open-storage.ts';
import { isDatabaseAway } from '../storage/connect.ts';
import type { Database } from '../storage/database.ts';
import { migrate } from '../storage/migrate.ts';
import { failure, isFailure } from './failure.ts';
import { loadConfig } from './load-config.ts';
import { printWarning } from './print.ts';

export type WorkOnDatabase<T> = (sql: Database, config: Config, applied: string[]) => Promise<T>;

/**
 * Runs a command on the migrated database of the configuration, with or without a running server. `applied` names the
 * migrations that it ran first. Throws a failure if the database is not available.
 */
export async function withDatabase<T>(work: WorkOnDatabase<T>): Promise<T> {
  const config = loadConfig();
  const storage = await open(config);
  try {
    const applied = await migrate(storage.sql).catch((error: Error) => Promise.reject(notAvailable(error)));
    return await work(storage.sql, config, applied);
  } catch (error) {
    throw isDatabaseAway(error) ? notAvailable(error as Error) : error;
  } finally {
    await storage.close();
  }
}

async function open(config: Config): Promise<Storage> {
  const log = { info() {}, warn: printWarning };
  return await openStorage(config, log).catch((error: Error) => Promise.reject(notAvailable(error)));
}

function notAvailable(error: Error): Error {
  return isFailure(error) ? error : failure(`The database is not available: ${error.message}`, 'notAvailable');
}
