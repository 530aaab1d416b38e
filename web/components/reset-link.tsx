import type { Page } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { type Place, parameterOf, placeOfUrl } from '../addresses.ts';
import { useApp } from '../app-context.ts';
import { useIsScripted } from '../is-scripted.tsx';
import type { SavedValues } from '../saved-values.ts';
import { Alert } from './notice.tsx';
import { ForgottenLink } from './screen-links.tsx';

/** Without a link no password can be set: shown before the visitor fills in two fields in vain. */
export function ResetLinkMissing() {
  const { message } = useApp();
  const isScripted = useIsScripted();
  const alert = (
    <Alert title={message('change-no-link-title')}>
      {message('change-no-link-text')} <ForgottenLink />
    </Alert>
  );
  // Until the script runs it is unknown what this tab has saved.
  return isScripted ? alert : <noscript>{alert}</noscript>;
}

/** What the new-password form sends about its link, and the account behind it if known. */
export type ResetLink = { hash: string; username: string };

/**
 * The link of the address, else the one saved by this tab, else the one kept for this browser. The server's account
 * name belongs to the link that it saw; another tab's link may be for another account.
 */
export function resetLinkOf(page: Page, place: Place, saved: SavedValues, resetHash = ''): ResetLink {
  const seenByServer = parameterOf(placeOfUrl(page.url, page.rules.basePath).search, queryNames.hash) || resetHash;
  const hash = parameterOf(place.search, queryNames.hash) || saved.passwordHashParameter || resetHash;
  return { hash, username: hash !== '' && hash === seenByServer ? page.typedUsername : '' };
}
