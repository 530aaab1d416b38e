import type { ResetLink } from '../reset-link.ts';

/**
 * The secret of the link, and the account for password managers: unnamed, since the post holds only password, repeat
 * and hash (specification §7).
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
