import type { ResetLink } from '../reset-link.ts';

/**
 * The secret of the link, and for password managers the account that the new password belongs to: without a name, since the
 * post holds password, repeat and hash alone (specification §7).
 */
export function ResetLinkFields({ hash, username }: ResetLink) {
  return (
    <>
      <input type="hidden" name="hash" value={hash} />
      <input
        className="sr"
        type="text"
        autoComplete="username"
        value={username}
        tabIndex={-1}
        aria-hidden="true"
        readOnly
      />
    </>
  );
}
