import type { ReactNode } from 'react';
import { useIsReady } from './portal-form.tsx';

export function SubmitButton({ isQuiet = false, children }: { isQuiet?: boolean; children: ReactNode }) {
  const isReady = useIsReady();
  return (
    <button className={isQuiet ? 'button quiet' : 'button'} type="submit" disabled={!isReady}>
      {children}
    </button>
  );
}
