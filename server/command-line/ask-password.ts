import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { failure } from './failure.ts';

/** Whether a person sits in front of the command and can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true;
}

/** Asks for a password twice without showing it; once when the first answer is empty. */
export async function askPassword(question: string): Promise<{ password: string; repeat: string }> {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Opened before the question is asked and closed after the last answer, so that nothing typed in between is echoed.
  const terminal = createInterface({ input: process.stdin, output: silence, terminal: true, historySize: 0 });
  const stopped = new Promise<never>((_, reject) => {
    terminal.once('SIGINT', () => reject(failure('refused', 'Stopped; nothing was changed.')));
    terminal.once('close', () => reject(failure('refused', 'No password was given; nothing was changed.')));
  });
  const ask = async (prompt: string) => {
    process.stderr.write(prompt);
    const answer = await Promise.race([terminal.question(''), stopped]);
    process.stderr.write('\n');
    return answer;
  };
  try {
    const password = await ask(`${question}: `);
    return { password, repeat: password && (await ask('The same again: ')) };
  } finally {
    stopped.catch(() => undefined);
    terminal.close();
  }
}

/** The password on the standard input: all of it without one line break at its end. */
export async function passwordOfStdin(): Promise<string> {
  const bytes = await buffer(process.stdin);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw failure('refused', 'The password on the standard input is not valid UTF-8.');
  }
}
