import type { ComponentProps, MouseEvent } from 'react';
import { isPlainClick } from '../plain-click.ts';
import { useVisit } from '../visit.ts';

type Props = Pick<ComponentProps<'a'>, 'className' | 'children'> & { href: string };

/** A link out of the portal: fade, then the page there. Links that open no page, such as mailto, work as usual. */
export function OutsideLink({ href, className, children }: Props) {
  const { leave, goToDocument } = useVisit();

  function onClick(event: MouseEvent<HTMLAnchorElement>) {
    if (!isPlainClick(event) || !/^https?:$/.test(event.currentTarget.protocol)) return;
    event.preventDefault();
    if (leave('please-wait')) goToDocument(event.currentTarget.href);
  }

  return (
    <a href={href} className={className} onClick={onClick}>
      {children}
    </a>
  );
}
