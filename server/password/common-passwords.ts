import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** No shorter password is allowed, so shorter entries are not kept. */
const shortestKept = 7;

/** All entries in one text, each between line breaks; loaded when first needed (decision 0010). */
let entries: string | null = null;

/** Whether the whole password is on the list of common passwords, ignoring case and compatibility forms. */
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
