import type { ReactNode } from 'react';

/** A named value, such as an address, that may wrap anywhere. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <p className="fact">
      <span>{label}</span> <code>{children}</code>
    </p>
  );
}
