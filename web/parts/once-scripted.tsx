import type { ReactNode } from 'react';
import { useIsScripted } from '../is-scripted.ts';

/** What only a script can do: it takes its place from the start, so that nothing moves under a finger, and is there once that runs. */
export function OnceScripted({ className = '', children }: { className?: string; children: ReactNode }) {
  const isScripted = useIsScripted();
  return <div className={isScripted ? className : `${className} unscripted`}>{children}</div>;
}
