import type { Database } from '#server/database/database.ts';
import { openStorage } from '#server/database/open-storage.ts';
import type { PortalUnderTest } from './portal-under-test.ts';

const log = { info() {}, warn() {} };

/** Runs work on a portal's database: for what no interface can cause, or what would take a process each time. */
export async function onDatabaseOf<T>({ env }: PortalUnderTest, work: (sql: Database) => PromiseLike<T>): Promise<T> {
  const place = { databaseUrl: env.DATABASE_URL ?? null, dataFolder: env.VESTIBULE_DATA as string };
  const { sql, close } = await openStorage(place, log);
  try {
    return await work(sql);
  } finally {
    await close();
  }
}
