import type { ReactNode } from 'react';
import { useApp } from '../app-context.ts';
import { SupportLink } from './screen-links.tsx';

/** What a visitor reads out to support. It is of the page that the server sent; one rendered by the script has none. */
export function Reference() {
  const { message, page, place } = useApp();
  if (!page.reference || place.address !== page.url) return null;
  return (
    <span className="reference">
      {message('reference')} <code>{page.reference}</code>
    </span>
  );
}

/** Last on the page of a refusal: what to read out, and to whom. The children are other links. */
export function SupportLine({ text, children }: Parameters<typeof SupportLink>[0] & { children?: ReactNode }) {
  return (
    <p className="links">
      <Reference />
      {children}
      <SupportLink text={text} />
    </p>
  );
}

/** A named value, such as an address, that may wrap anywhere. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <p className="fact">
      <span>{label}</span> <code>{children}</code>
    </p>
  );
}
