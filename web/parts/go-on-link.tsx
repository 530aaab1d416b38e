import type { MouseEvent } from 'react';
import { destinationAfterTwoFactor } from '#contract/destination.ts';
import { type MessageKey, useMessage } from '../messages.tsx';
import { isPlainClick } from '../plain-click.ts';
import { useVisit } from '../visit.ts';

/**
 * Lets a signed-in user skip an app that nobody required. The tab may know more of the destination than the server: the
 * fragment.
 */
export function GoOnLink({ textKey, destination }: { textKey: MessageKey; destination: string }) {
  const message = useMessage();
  const { page, saved, isScripted, leave, save, goToDocument } = useVisit();
  const href = isScripted ? destinationAfterTwoFactor(saved, page.rules) : destination;

  function onClick(event: MouseEvent) {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    if (!leave('please-wait')) return;
    save({ loginHashFragment: null });
    goToDocument(href);
  }

  return (
    <p className="links">
      <a href={href} onClick={onClick}>
        {message(textKey)}
      </a>
    </p>
  );
}
