import type { MouseEvent, ReactNode } from 'react';
import { isPlainClick } from '../plain-click.ts';
import { useVisit } from '../visit.ts';

type Props = {
  href: string;
  className?: string | undefined;
  /** For what only the server can show: reloads the page. */
  isDocument?: boolean;
  children: ReactNode;
};

/** A link to another screen: fade, then the screen. Modified clicks and pages outside the portal work as usual. */
export function PortalLink({ href, className, isDocument = false, children }: Props) {
  const { page, leave, goTo, goToDocument, prepare } = useVisit();
  const isOtherDocument = Boolean(page.serverPage) || isDocument;
  const onApproach = isOtherDocument ? undefined : prepare;
  function onClick(event: MouseEvent) {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    if (!leave('please-wait')) return;
    if (isOtherDocument) goToDocument(href);
    else goTo(href, 'push');
  }
  return (
    <a href={href} className={className} onClick={onClick} onPointerEnter={onApproach} onFocus={onApproach}>
      {children}
    </a>
  );
}
