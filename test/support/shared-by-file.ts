import { afterAll, beforeAll } from 'vitest';

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
