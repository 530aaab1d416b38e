import type { ReactNode } from 'react';

/** One named value, such as an address, that wraps anywhere. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <p className="fact">
      <span>{label}</span> <code>{children}</code>
    </p>
  );
}
