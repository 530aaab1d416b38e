import { useEffect, useRef } from 'react';
import { callUrl } from '#contract/calls.ts';
import type { Page } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { type Place, parameterOf, placeOfUrl } from '../addresses.ts';
import { useApp, useMessage, usePortalUrls } from '../app-context.ts';
import { useIsScripted } from '../is-scripted.tsx';
import type { SavedValues } from '../saved-values.ts';
import { Alert } from './notice.tsx';
import { loadCeremony } from './passkey-form.tsx';
import { ForgottenLink } from './screen-links.tsx';

/** Without a link no password can be set: shown before the visitor fills in two fields in vain. */
export function ResetLinkMissing() {
  const message = useMessage();
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

/**
 * The passkey of an invitation: hidden until the script of ceremonies finds that the browser can make one, which it also does
 * (web/passkeys/enrol.ts); without a link there is none to make. It names the account where only the script has the link, as whoever
 * follows a stranger's would make a passkey for theirs. `isQuiet`: beside a form for a password.
 */
export function PasskeyInstead({
  link: { hash, username },
  destination,
  isQuiet,
}: {
  link: ResetLink;
  destination: string | undefined;
  isQuiet: boolean;
}) {
  const message = useMessage();
  const { page, leave } = useApp();
  const { toCall } = usePortalUrls();
  const form = useRef<HTMLFormElement>(null);
  const isLinked = hash !== '';
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for a link
  useEffect(() => {
    if (!isLinked) return;
    loadCeremony().then(
      ({ offerToEnrol }) => form.current && offerToEnrol(form.current, () => leave('please-wait')),
      () => {},
    );
  }, [isLinked]);
  return (
    <form
      ref={form}
      hidden
      method="post"
      action={toCall('passkeyInvitation', { destination })}
      data-options={`${callUrl(page.rules.basePath, 'passkeyInvitation')}/options`}
      data-none={message('passkey-instead-none')}
      data-busy={message('notice-tooManyAttempts-text')}
    >
      <input type="hidden" name="hash" value={hash} />
      <input type="hidden" name="credential" />
      {!username && (
        <p className="lede" aria-live="polite" data-account={message('page-account', { account: '{account}' })} />
      )}
      <button className={isQuiet ? 'button quiet' : 'button'} type="submit">
        {message('passkey-instead')}
      </button>
      <p aria-live="polite" />
    </form>
  );
}
