import type { ReactNode } from 'react';
import { useApp, useMessage } from '../app-context.ts';

/**
 * The reference that a visitor reads out to support to identify the refusal. It belongs to the page
 * that the server sent; a failure page rendered later by the script has none.
 */
export function Reference() {
  const message = useMessage();
  const { page, place } = useApp();
  if (!page.reference || place.address !== page.url) return null;
  return <Fact label={message('reference')}>{page.reference}</Fact>;
}

/** A named value, such as an address, that may wrap anywhere. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <p className="fact">
      <span>{label}</span> <code>{children}</code>
    </p>
  );
}
