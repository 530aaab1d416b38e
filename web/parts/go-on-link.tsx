import type { MouseEvent } from 'react';
import { destinationAfterTwoFactor } from '#contract/destination.ts';
import { destinationInLanguage } from '#contract/destination-in-language.ts';
import { useIsScripted } from '../is-scripted.ts';
import { type MessageKey, useMessage } from '../messages.tsx';
import { isPlainClick } from '../plain-click.ts';
import { usePortalUrls } from '../portal-urls.ts';
import { useVisit } from '../visit.ts';

/**
 * Lets a signed-in user skip an app that nobody required. The tab may know more of the destination than the server: the
 * fragment.
 */
export function GoOnLink({ textKey, destination }: { textKey: MessageKey; destination: string }) {
  const message = useMessage();
  const { page, saved, leave, save, goToDocument } = useVisit();
  const isScripted = useIsScripted();
  const { language } = usePortalUrls();
  const known = isScripted ? destinationAfterTwoFactor(saved, page.rules) : destination;
  const href = destinationInLanguage(known, page.rules.basePath, language);

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
