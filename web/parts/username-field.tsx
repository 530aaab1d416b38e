/**
 * Whose password it is, for password managers: unnamed, since the post of a new one holds only password, repeat and hash
 * (specification §7).
 */
export function UsernameField({ username }: { username: string }) {
  return (
    <input
      className="sr"
      type="text"
      autoComplete="username"
      value={username}
      tabIndex={-1}
      aria-hidden="true"
      readOnly
    />
  );
}
