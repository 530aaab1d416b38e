import { type ReactNode, useSyncExternalStore } from 'react';

/** False on the server and until hydration; only the parts that ask are rendered again when it becomes true. */
export function useIsScripted(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => true,
    () => false,
  );
}

const subscribe = () => () => {};

/** What only a script can do: it takes its place from the start, so that nothing moves under a finger, and is there once that runs. */
export function OnceScripted({ className = '', children }: { className?: string; children: ReactNode }) {
  const isScripted = useIsScripted();
  return <div className={isScripted ? className : `${className} unscripted`}>{children}</div>;
}
