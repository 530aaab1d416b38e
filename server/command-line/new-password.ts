import type { NewPasswordRules } from '../password/new-password-problem.ts';
import { newPasswordProblemsInWords } from '../password/new-password-problems-in-words.ts';
import { askPassword, canAsk, readStdin } from './ask-password.ts';
import { failure } from './failure.ts';

/** Where a new password comes from; `ifGiven` asks too, and accepts an empty answer as none. */
export type PasswordSource = 'stdin' | 'prompt' | 'ifGiven';

/**
 * Reads a new password, checks it by the rules of the sign-in pages and hashes it; null if none was given. Throws a
 * failure that names the broken rules.
 */
export async function readNewPassword(source: PasswordSource, rules: NewPasswordRules): Promise<string | null> {
  const given = await readTwice(source);
  if (given === null) return null;
  const { password, repeat } = given;
  const problems = newPasswordProblemsInWords(password, repeat, rules);
  if (problems.length > 0) throw failure(`The password was not accepted: ${problems.join('; ')}.`);
  const { hashPassword } = await import('../secrets/password-hash.ts');
  return await hashPassword(password, null);
}

async function readTwice(source: PasswordSource): Promise<{ password: string; repeat: string } | null> {
  if (source === 'stdin') {
    const password = await readStdin('password');
    return { password, repeat: password };
  }
  // Piped input is read only on request: in a script it belongs to the next command, or never ends.
  if (!canAsk()) {
    const without = source === 'ifGiven' ? '; --no-password adds the user without one' : '';
    throw failure(`No terminal to ask for a password: --password-stdin reads it from standard input${without}.`);
  }
  const given = await askPassword(source === 'prompt' ? 'New password' : 'Password (empty for none)');
  return source === 'ifGiven' && given.password === '' ? null : given;
}
