import { useSyncExternalStore } from 'react';

/**
 * False on the server and until hydration, for what needs JavaScript. Only the parts that ask are rendered again when it
 * becomes true.
 */
export function useIsScripted(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => true,
    () => false,
  );
}

const subscribe = () => () => {};
