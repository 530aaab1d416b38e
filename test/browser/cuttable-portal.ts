import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '#server/database/connect.ts';
import { openEmbedded } from '#server/database/embedded/embedded.ts';
import { type CuttableDatabase, cuttableDatabase } from '../support/cuttable-database.ts';
import { quickFolder } from '../support/quick-folder.ts';
import type { PortalUnderTest } from './portal-under-test.ts';
import { startPortalWithUsers } from './test.ts';

/** A portal with a separate database server, over a connection that a test can cut. */
export type CuttablePortal = {
  portal: PortalUnderTest;
  database: Pick<CuttableDatabase, 'cut' | 'mend'>;
  close: () => Promise<void>;
};

/** Starts a separate PostgreSQL, and a portal with users on it. */
export async function startCuttablePortal(env: Record<string, string>): Promise<CuttablePortal> {
  const folder = mkdtempSync(join(quickFolder, 'vestibule-e2e-database-'));
  const embedded = await openEmbedded({ dataFolder: folder, log: { info() {}, warn() {} }, durable: false });
  const { place, close: closeEmbedded } = embedded;
  const sql = connect(place, { poolSize: 1 });
  const wire = await cuttableDatabase({ sql, place, close: closeEmbedded });
  const portal = await startPortalWithUsers({
    env: { ...env, DATABASE_URL: wire.url, VESTIBULE_SECRET: 'x'.repeat(43) },
  });
  return {
    portal,
    database: wire,
    async close() {
      await portal.discard();
      await wire.close();
      await sql.end();
      await closeEmbedded();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
