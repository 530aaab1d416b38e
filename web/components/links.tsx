import type { MouseEvent, ReactNode } from 'react';
import { hasAddress } from '#contract/page.ts';
import { useApp } from '../app-context.ts';

/** Whether a click navigates this page; those that open another tab or window, or save, are left to the browser. */
export function isPlainClick(event: MouseEvent): boolean {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}

type Props = {
  href: string;
  className?: string | undefined;
  /** For what only the server can show, or another site: leaves the page. */
  isDocument?: boolean;
  onLeave?: () => void;
  children: ReactNode;
};

/** A link to another screen: fade, then the screen. Modified clicks work as usual. */
export function PortalLink({ href, className, isDocument = false, onLeave, children }: Props) {
  const { page, leave, goTo, goToDocument } = useApp();
  const isOtherDocument = isDocument || !hasAddress(page.screen);
  function onClick(event: MouseEvent<HTMLAnchorElement>) {
    // A link that opens no page, such as mailto, works as usual.
    if (!isPlainClick(event) || !/^https?:$/.test(event.currentTarget.protocol)) return;
    event.preventDefault();
    if (!leave('please-wait')) return;
    onLeave?.();
    if (isOtherDocument) goToDocument(event.currentTarget.href);
    else goTo(href, 'push');
  }
  return (
    <a href={href} className={className} onClick={onClick}>
      {children}
    </a>
  );
}
