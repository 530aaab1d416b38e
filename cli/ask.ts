import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { readText } from '#server/config/read-text-file.ts';
import { type NewPasswordRules, newPasswordProblem } from '#server/sign-in/new-password.ts';
import { failure } from './print.ts';

/** Whether the command runs at a terminal and can ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true;
}

/** Asks for a password without showing it: twice, or once if the first answer is empty or `once` is set. */
async function askPassword(question: string, { once = false } = {}): Promise<{ password: string; repeat: string }> {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Opened before the question and closed after the last answer, so that nothing typed in between is echoed.
  const terminal = createInterface({ input: process.stdin, output: silence, terminal: true, historySize: 0 });
  const stopped = new Promise<never>((_, reject) => {
    terminal.once('SIGINT', () => reject(failure('Stopped; nothing was changed.')));
    terminal.once('close', () => reject(failure('No password was given; nothing was changed.')));
  });
  const ask = async (prompt: string) => {
    process.stderr.write(prompt);
    const answer = await Promise.race([terminal.question(''), stopped]);
    process.stderr.write('\n');
    return answer;
  };
  try {
    const password = await ask(`${question}: `);
    return { password, repeat: once ? password : password && (await ask('Repeat password: ')) };
  } finally {
    stopped.catch(() => undefined);
    terminal.close();
  }
}

/**
 * A password or another secret from standard input: all of it but a mark of the encoding at its beginning and one final
 * line break. At a terminal it is prompted for without echo.
 */
export async function readStdin(what: 'password' | 'client secret'): Promise<string> {
  if (canAsk()) return (await askPassword(`The ${what}`, { once: true })).password;
  const text = readText(await buffer(process.stdin));
  if (text.kind === 'ok') return text.value.replace(/\r?\n$/, '');
  throw failure(`The ${what} on standard input is not valid UTF-8.`);
}

/** Where a new password comes from; `ifGiven` asks too, and accepts an empty answer as none. */
type PasswordSource = 'stdin' | 'prompt' | 'ifGiven';

/**
 * Reads a new password, checks it by the rules of the sign-in pages and hashes it; null if none was given. Throws a
 * failure that names the broken rules.
 */
export async function readNewPassword(source: PasswordSource, rules: NewPasswordRules): Promise<string | null> {
  const given = await readTwice(source);
  if (given === null) return null;
  const { password, repeat } = given;
  const problem = newPasswordProblem(password, repeat, rules);
  if (problem) throw failure(`The password was not accepted: ${problem.words.join('; ')}.`);
  const { hashPassword } = await import('#server/crypto/password-hash.ts');
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
