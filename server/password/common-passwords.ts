import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Nobody may choose a shorter one, so shorter entries are not kept. */
const shortestKept = 7;

/** The entries in one text, each between line breaks; read when the first password is chosen (decision 0010). */
let entries: string | null = null;

/** Whether the whole password is on the list of common passwords, without regard to case and to forms of a letter. */
export function isCommonPassword(password: string): boolean {
  entries ??= readEntries();
  const plain = password.normalize('NFKC').toLowerCase();
  return !plain.includes('\n') && entries.includes(`\n${plain}\n`);
}

function readEntries(): string {
  const file = createRequire(import.meta.url).resolve('@zxcvbn-ts/language-common/src/passwords.json');
  const list: string[] = JSON.parse(readFileSync(file, 'utf8'));
  return `\n${list.filter((entry) => entry.length >= shortestKept).join('\n')}\n`;
}
