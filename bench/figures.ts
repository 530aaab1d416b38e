import { readFile, writeFile } from 'node:fs/promises';

/** The median of some numbers. */
export function median(numbers: readonly number[]): number {
  return percentile(numbers, 0.5);
}

/** The quantile of the numbers at a part (0 to 1). */
export function percentile(numbers: readonly number[], part: number): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** How long some work takes, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Prints one line, which says so if the target was not reached. */
export function report(what: string, figure: string, target: string, isReached: boolean): void {
  const goal = isReached ? target : `${target}, not reached`;
  console.log(`${what.padEnd(46)} ${figure.padEnd(62)} ${goal}`);
}

/** A figure, and whose it is. */
type Of = { is: string; figure: number };

/** Something measured: ours, beside the least that does the same and beside peers, and what ours should reach. */
export type Finding = {
  what: string;
  unit: string;
  ours: number;
  floor?: Of | undefined;
  peers?: readonly Of[];
  /** Whether more is better, as of rates, or less, as of times and sizes. */
  better: 'more' | 'less';
  /** The figure itself, its ratio to the floor, and its ratio to the better peer. */
  goal?: { ours?: number; toFloor?: number; toPeer?: number };
  /** Shown in the README as well. */
  isTold?: boolean;
};

const findings: Finding[] = [];

/** Adds a row to the table. */
export function find(finding: Finding): void {
  findings.push(finding);
  const [what = '', ...cells] = cellsOf(finding);
  console.error(`${what}: ${cells.filter((cell) => cell !== '').join(' | ')}`);
}

const heads = ['', 'ours', 'floor', 'peers', 'ratio', 'wished'];

function cellsOf({ what, unit, ours, floor, peers = [], better, goal = {} }: Finding): string[] {
  const sorted = [...peers].sort((one, other) => (one.figure - other.figure) * (better === 'more' ? -1 : 1));
  const ratios = [
    { ratio: ours, least: goal.ours, of: unit },
    { ratio: floor && ours / floor.figure, least: goal.toFloor, of: 'of the floor' },
    { ratio: sorted[0] && ours / sorted[0].figure, least: goal.toPeer, of: `of ${sorted[0]?.is}` },
  ].flatMap(({ ratio, least, of }) => (ratio === undefined ? [] : [{ ratio, least, of }]));
  const wished = ratios.flatMap(({ ratio, least, of }) => {
    if (least === undefined) return [];
    const isMissed = better === 'more' ? ratio < least : ratio > least;
    return [`${better === 'more' ? '≥' : '≤'} ${told(least)} ${of}${isMissed ? ' (missed)' : ''}`];
  });
  const named = ({ is, figure }: Of) => `${is} ${told(figure)}`;
  return [
    what,
    `${told(ours)} ${unit}`,
    floor ? named(floor) : '',
    sorted.map(named).join(', '),
    ratios
      .slice(1)
      .map(({ ratio, of }) => `${ratio.toFixed(2)} ${of}`)
      .join(', '),
    wished.join(', '),
  ];
}

/** Three digits at least, and no more than help. */
function told(figure: number): string {
  if (Number.isNaN(figure)) return '?';
  if (figure < 0.01) return figure.toPrecision(1);
  return figure.toLocaleString('en', { maximumFractionDigits: figure < 10 ? 2 : figure < 100 ? 1 : 0 });
}

/** Prints the table of all that was found. */
export function printTable(): void {
  const rows = [heads, ...findings.map(cellsOf)];
  const widths = heads.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

/** Writes the table to docs/performance.md, and the rows that the README tells, without what was wished, to that. */
export async function writeTables(now: Date): Promise<void> {
  const day = `Measured on ${now.toISOString().slice(0, 10)}.`;
  await writeBetweenMarks('../docs/performance.md', [...tableOf(heads, findings.map(cellsOf)), '', day]);
  const toldRows = findings.filter(({ isTold }) => isTold).map((finding) => cellsOf(finding).slice(0, 5));
  await writeBetweenMarks('../README.md', tableOf(heads.slice(0, 5), toldRows));
}

function tableOf(heads: readonly string[], rows: readonly string[][]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)];
}

async function writeBetweenMarks(file: string, lines: readonly string[]): Promise<void> {
  const url = new URL(file, import.meta.url);
  const text = await readFile(url, 'utf8');
  const marked = /(<!-- npm run bench -->\n)[\s\S]*?(<!-- end -->)/;
  if (!marked.test(text)) throw new Error(`${file} has no place for the table`);
  await writeFile(
    url,
    text.replace(marked, (_, start, end) => `${start}${lines.join('\n')}\n${end}`),
  );
}
