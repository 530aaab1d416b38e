import { beforeAll, beforeEach } from 'vitest';
import type { Config } from '#server/config/config.ts';
import { connect } from '#server/database/connect.ts';
import type { Database } from '#server/database/database.ts';
import { configFrom, type PortalForTest, portalForTest } from './portal-for-test.ts';
import { sharedByFile } from './shared-by-file.ts';

type Preparation = {
  /** The operator's environment. */
  env?: Record<string, string>;
  /** What differs from the configuration that the environment gives. */
  config?: Partial<Config>;
  /** What the portal is given before the first test, such as its people. */
  once?: (portal: PortalForTest) => Promise<unknown>;
  /** What precedes every test. */
  each?: (portal: PortalForTest) => Promise<unknown>;
};

/** The portal that the tests of a file share, prepared as given. */
export function portalOfFile({ env = {}, config, once, each }: Preparation = {}): PortalForTest {
  const portal = sharedByFile(() => portalForTest({ ...configFrom(env), ...config }));
  if (once) beforeAll(() => once(portal));
  if (each) beforeEach(() => each(portal));
  return portal;
}

/** Another instance on the portal's database, with a pool of its own, for the tests of a file. */
export function otherInstanceOfFile(
  portal: PortalForTest,
  config: Partial<Config> = {},
): PortalForTest & { pool: Database } {
  return sharedByFile(async () => {
    const pool = connect(portal.database.place);
    const other = await portalForTest(config, portal, { sql: pool });
    const close = async () => {
      await other.close();
      await pool.end();
    };
    return { ...other, pool, close };
  });
}
