import { readFile, writeFile } from 'node:fs/promises';
import type { Finding } from './figures.ts';

const page = new URL('../docs/performance.md', import.meta.url);

/** Replaces the table of docs/performance.md of `npm run <script>` by the findings of one run. */
export async function writeTable(script: string, findings: readonly Finding[], now: Date): Promise<void> {
  const table = new RegExp(`(<!-- npm run ${script} -- --write -->\\n)[\\s\\S]*?(<!-- end -->)`);
  const text = await readFile(page, 'utf8');
  if (!table.test(text)) throw new Error('docs/performance.md has no place for the table');
  const rows = findings.map(({ what, figure, goal }) => `| ${what} | ${figure} | ${goal} |`);
  const written = [
    `Measured on ${now.toISOString().slice(0, 10)}:`,
    '',
    '| what | figure | goal |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
  await writeFile(
    page,
    text.replace(table, (_, start, end) => start + written + end),
  );
}
