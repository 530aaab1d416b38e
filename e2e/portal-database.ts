import { connect, type Database } from '#server/storage/connect.ts';
import { openEmbedded } from '#server/storage/embedded.ts';
import type { PortalUnderTest } from './portal-under-test.ts';

const log = { info() {}, warn() {} };

/** Does something on the built-in database of a portal, for what neither a person nor an operator can bring about. */
export async function onDatabaseOf<T>({ env }: PortalUnderTest, work: (sql: Database) => PromiseLike<T>): Promise<T> {
  const embedded = await openEmbedded({ dataFolder: env.VESTIBULE_DATA as string, log });
  const sql = connect(embedded.place, { poolSize: 1 });
  try {
    return await work(sql);
  } finally {
    await sql.end();
    await embedded.close();
  }
}
