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

/**
 * The probability that two samples this different come from one distribution: the two-sided p of the Mann-Whitney U
 * test, by its normal approximation.
 */
export function mannWhitneyP(one: readonly number[], other: readonly number[]): number {
  const all = [...one.map((value) => ({ value, first: true })), ...other.map((value) => ({ value, first: false }))];
  all.sort((a, b) => a.value - b.value);
  let rankSum = 0;
  for (let start = 0; start < all.length; ) {
    let end = start;
    while (end < all.length && all[end]?.value === all[start]?.value) end += 1;
    const sharedRank = (start + 1 + end) / 2;
    rankSum += sharedRank * all.slice(start, end).filter(({ first }) => first).length;
    start = end;
  }
  const [n, m] = [one.length, other.length];
  const u = rankSum - (n * (n + 1)) / 2;
  const z = Math.abs(u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12);
  return 2 * (1 - normalBelow(z));
}

/** The standard normal distribution below z, by Abramowitz and Stegun 26.2.17. */
function normalBelow(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const tail = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * tail;
}

/** A measurement, its figure and the target, as printed and as in the README. */
export type Finding = { what: string; figure: string; goal: string };

const findings: Finding[] = [];

/** Everything reported so far. */
export function reported(): readonly Finding[] {
  return findings;
}

/** Prints one line, which says so if the target was not reached. */
export function report(what: string, figure: string, target: string, isReached: boolean): void {
  const goal = isReached ? target : `${target}, not reached`;
  findings.push({ what, figure, goal });
  console.log(`${what.padEnd(46)} ${figure.padEnd(62)} ${goal}`);
}

/** Prints a rate as a ratio to that of something else, by the medians of both; `least` is the target. */
export function reportRatio(
  what: string,
  { ours, theirs, whose, least }: { ours: readonly number[]; theirs: readonly number[]; whose: string; least: number },
): void {
  const [one, other] = [median(ours), median(theirs)];
  const ratio = one / other;
  const figure = `${ratio.toFixed(2)} of ${whose} (${Math.round(one)} to ${Math.round(other)})`;
  report(what, figure, `at least ${least.toFixed(2)}`, ratio >= least);
}

const page = new URL('../docs/performance.md', import.meta.url);

/** Replaces the table of docs/performance.md by the findings of one run. */
export async function writeTable(findings: readonly Finding[], now: Date): Promise<void> {
  const table = /(<!-- npm run bench -- --write -->\n)[\s\S]*?(<!-- end -->)/;
  const text = await readFile(page, 'utf8');
  if (!table.test(text)) throw new Error('docs/performance.md has no place for the table');
  const rows = findings.map(({ what, figure }) => `| ${what} | ${figure} |`);
  const written = [
    `Measured on ${now.toISOString().slice(0, 10)}:`,
    '',
    '| what | figure |',
    '|---|---|',
    ...rows,
    '',
  ].join('\n');
  await writeFile(
    page,
    text.replace(table, (_, start, end) => start + written + end),
  );
}

/** How long some work takes, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
