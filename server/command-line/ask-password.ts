import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { limits } from '../limits.ts';
import { failure } from './failure.ts';
import { printWarning } from './print.ts';

/** Whether the command runs at a terminal and can ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true;
}

/** Asks for a password without showing it: twice, or once if the first answer is empty or `once` is set. */
export async function askPassword(
  question: string,
  { once = false } = {},
): Promise<{ password: string; repeat: string }> {
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
 * A password or another secret from standard input: all of it, minus one final line break. At a terminal it is prompted
 * for without echo.
 */
export async function readStdin(what: 'password' | 'client secret'): Promise<string> {
  if (canAsk()) return (await askPassword(`The ${what}`, { once: true })).password;
  const waits = setTimeout(() => printWarning(`Waiting for the ${what} on standard input …`), limits.stdinHint);
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
      clearTimeout(waits);
      chunks.push(chunk);
      if (chunks.reduce((sum, { length }) => sum + length, 0) > limits.stdinBytes)
        throw failure(`Standard input is too long for a ${what}.`);
    }
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
      .decode(Buffer.concat(chunks))
      .replace(/\r?\n$/, '');
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw failure(`The ${what} on standard input is not valid UTF-8.`);
  } finally {
    clearTimeout(waits);
  }
}
