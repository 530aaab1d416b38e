import type { ImportCounts } from '../moving-in/import-users.ts';
import { printWarning } from './print.ts';

/** Lines between two messages if there is no terminal. */
const linesBetween = 10_000;
const barWidth = 30;

/** Shows how far an import is, on standard error: a bar on a terminal, else a line now and then. */
export function importProgress(
  bytes: number | null,
  bytesRead: () => number,
): { show: (counts: ImportCounts) => void; end: () => void } {
  const isTerminal = process.stderr.isTTY === true;
  let told = 0;
  return {
    show({ added, unchanged, refused }) {
      const lines = added + unchanged + refused;
      const words = `${lines} lines: ${added} added, ${unchanged} unchanged, ${refused} refused`;
      if (isTerminal) process.stderr.write(`\r\u001b[K${bar(bytes, bytesRead())}${words}`);
      else if (lines - told >= linesBetween) {
        told = lines;
        printWarning(words);
      }
    },
    end() {
      if (isTerminal) process.stderr.write('\n');
    },
  };
}

function bar(bytes: number | null, read: number): string {
  if (bytes === null) return '';
  const share = Math.min(1, read / bytes);
  const full = Math.round(share * barWidth);
  return `[${'#'.repeat(full)}${' '.repeat(barWidth - full)}] ${String(Math.floor(share * 100)).padStart(3)}%  `;
}
