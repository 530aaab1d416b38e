import { readFile, writeFile } from 'node:fs/promises';
import type { Finding } from './figures.ts';

const readme = new URL('../README.md', import.meta.url);

/** Replaces the README's table of `npm run <script>` by the findings of one run. */
export async function writeReadmeTable(script: string, findings: readonly Finding[], now: Date): Promise<void> {
  const table = new RegExp(`(<!-- npm run ${script} -- --readme -->\\n)[\\s\\S]*?(<!-- end -->)`);
  const text = await readFile(readme, 'utf8');
  if (!table.test(text)) throw new Error('README.md has no place for the table');
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
    readme,
    text.replace(table, (_, start, end) => start + written + end),
  );
}
