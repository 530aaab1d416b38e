import type { Connection } from '../database/database.ts';
import { foldLoginName } from '../names/fold-name.ts';
import { listTakenFolds } from './login-name.ts';

/** The folded names that a user signs in with. */
export function foldsOfUser(user: { username: string; email: string }): string[] {
  return [foldLoginName(user.username), foldLoginName(user.email)];
}

/** Which of a user's two names somebody else has, the username first; null if both are free. */
export async function takenField(
  sql: Connection,
  user: { username: string; email: string },
  userId: string | null,
): Promise<'username' | 'email' | null> {
  const taken = await listTakenFolds(sql, foldsOfUser(user), userId);
  if (taken.includes(foldLoginName(user.username))) return 'username';
  return taken.length > 0 ? 'email' : null;
}
