import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Config } from '#server/config/config.ts';
import { connect } from '#server/database/connect.ts';
import type { Database } from '#server/database/database.ts';
import { configFrom, type PortalForTest, portalForTest } from './portal-for-test.ts';

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

/** Another pool on the portal's database, for what the tests of a file do there themselves. */
export function poolOfFile(portal: PortalForTest): Database {
  const shared = sharedByFile(async () => {
    const pool = connect(portal.database.place);
    return { pool, close: () => pool.end() };
  });
  // Which database it is on is known only once the portal has started.
  return new Proxy((() => {}) as unknown as Database, {
    apply: (_, self, given) => Reflect.apply(shared.pool, self, given),
    get: (_, member) => Reflect.get(shared.pool, member),
  });
}

/**
 * What the tests of a file share: opened before the first of them and closed after the last. The object that is
 * returned stays empty until then.
 */
export function sharedByFile<T extends { close: () => Promise<unknown> }>(open: () => Promise<T>): T {
  const shared = {} as T;
  beforeAll(async () => {
    // Not Object.assign, which would call getters once and for all.
    Object.defineProperties(shared, Object.getOwnPropertyDescriptors(await open()));
  });
  afterAll(async () => {
    await shared.close();
  });
  return shared;
}
