import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { failure } from './failure.ts';

/** Whether a person sits in front of the command and can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true;
}

/** Asks for a password twice without showing it. Returns what was typed both times. */
export async function askPassword(question: string): Promise<{ password: string; repeat: string }> {
  const password = await askHidden(`${question}: `);
  if (password === '') return { password, repeat: '' };
  return { password, repeat: await askHidden('The same again: ') };
}

async function askHidden(question: string): Promise<string> {
  process.stderr.write(question);
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silence, terminal: true, historySize: 0 });
  const stopped = new Promise<never>((_, reject) => {
    terminal.once('SIGINT', () => reject(failure('refused', 'Stopped; nothing was changed.')));
    terminal.once('close', () => reject(failure('refused', 'No password was given; nothing was changed.')));
  });
  try {
    return await Promise.race([terminal.question(''), stopped]);
  } finally {
    terminal.close();
    stopped.catch(() => undefined);
    process.stderr.write('\n');
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
