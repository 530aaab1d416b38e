import { useEffect, useRef } from 'react';
import { pageCallUrl } from '#contract/page-calls.ts';
import { useApp, useMessage, usePortalUrls } from '../app-context.ts';
import { loadCeremony } from './passkey-form.tsx';
import type { ResetLink } from './reset-link-missing.tsx';

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
      data-options={`${pageCallUrl(page.rules.basePath, 'passkeyInvitation')}/options`}
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
