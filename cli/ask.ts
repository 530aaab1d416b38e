import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { readText } from '#server/config/read-text-file.ts';
import { type NewPasswordRules, newPasswordProblem } from '#server/sign-in/new-password.ts';
import type { NotAgreed, WhatFollows } from '#server/single-sign-on/with-agreement.ts';
import { failure, printWarning } from './print.ts';

/** Whether the command runs at a terminal and can ask. */
function canAsk(): boolean {
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

/** The option by which a script confirms in advance. */
export const yesFlag = [
  '--yes',
  'skip the confirmation, even if passwords work again, a domain is locked out or users are unlinked',
] as const;

/**
 * Tries a change. If it locks people out, unlinks them or allows passwords again, says so and asks; throws a failure,
 * with nothing changed, if the answer is no or nobody can be asked.
 */
export async function askToGoOn<T extends { kind: string }>(
  attempt: (isAgreed: boolean) => Promise<T | NotAgreed>,
  yes: boolean,
): Promise<T> {
  const first = await attempt(yes);
  if (!isNotAgreed(first)) return first;
  warnOf(first.follows);
  await agreed();
  return (await attempt(true)) as T;
}

function isNotAgreed(result: { kind: string }): result is NotAgreed {
  return result.kind === 'notAgreed';
}

function warnOf({ opened, lockedOut, unlinked, domainsDropped }: WhatFollows): void {
  if (opened.length > 0)
    printWarning(
      `Single sign-on is no longer required for ${opened.join(', ')}: users who have a password there can sign in with it again.`,
    );
  if (lockedOut.length > 0)
    printWarning(
      `Then nobody in ${lockedOut.join(', ')} can sign in: single sign-on is disabled, and passwords stay forbidden ` +
        'while it is required (connection set --required off allows them).',
    );
  if (unlinked > 0)
    printWarning(
      domainsDropped.length > 0
        ? `The connection no longer vouches for ${domainsDropped.join(', ')}. ` +
            `Users who are unlinked: ${unlinked}; their sessions through it end. If they should still sign in through ` +
            'it, add --keep-links instead.'
        : 'Another issuer or entity ID is another provider, whose subjects may be other people. ' +
            `Users who are unlinked: ${unlinked}; their sessions end, and their next sign-in links them again by ` +
            'their verified address. If it is the same provider under another name, add --keep-links instead.',
    );
}

/** Asks whether to go on. Throws a failure, with nothing changed, at anything but a yes, or if nobody can be asked. */
async function agreed(): Promise<void> {
  if (!canAsk()) throw failure('Nothing was changed. To go ahead, add --yes.');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = terminal.question('Continue? Type yes: ').catch(() => '');
  const text = await Promise.race([answer, closed]).finally(() => terminal.close());
  if (text.trim().toLowerCase() !== 'yes') throw failure('Nothing was changed.');
}
