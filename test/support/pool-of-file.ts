import { connect } from '#server/database/connect.ts';
import type { Database } from '#server/database/database.ts';
import type { PortalForTest } from './portal-for-test.ts';
import { sharedByFile } from './shared-by-file.ts';

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
