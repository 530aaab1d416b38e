/** Characters that would move the cursor, colour the screen or change the writing direction. */
const unprintable = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

const escapeOf = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Any text made safe for a terminal, on one line. */
function visible(text: string): string {
  return text.replace(unprintable, escapeOf);
}

const visibleLines = (text: string) => text.split('\n').map(visible).join('\n');

export function printLine(text: string): void {
  process.stdout.write(`${visibleLines(text)}\n`);
}

/** To standard error, so that piped output stays clean. */
export function printWarning(text: string): void {
  process.stderr.write(`${visibleLines(text)}\n`);
}

export function printJson(value: unknown): void {
  // Inside JSON the same escapes mean the same characters.
  printLine(JSON.stringify(value, null, 2));
}

/** What a command answers: to people in words, by --json as a value; warnings go to standard error beside both. */
export type Answer = { value: unknown; words: string; warnings?: readonly string[] };

export function printAnswer({ value, words, warnings = [] }: Answer, json: true | undefined): void {
  if (json) printJson(value);
  else printLine(words);
  warnings.forEach(printWarning);
}

/** The steps of a change, one a line. */
export function stepsInWords(steps: readonly { step: string; outcome: string }[]): string {
  return steps.map(({ step, outcome }) => `  ${step}: ${outcome}`).join('\n');
}

export const yesOrNo = (value: boolean) => (value ? 'yes' : 'no');

/** Rows under headings, each column as wide as its widest cell. */
export function tableOf(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [headings, ...rows].map((row) => row.map(visible));
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  const lines = cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** Names and values, one pair per line. */
export function factsOf(facts: readonly (readonly [string, string])[]): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd()).join('\n');
}

/** A time in the operator's time zone, such as `2026-03-01 11:00:00 +01:00`. */
export function localTime(time: Date): string {
  return time
    .toLocaleString('sv', { timeZoneName: 'longOffset' })
    .replace(/GMT(.*)/, (_, zone) => zone.replace('−', '-') || '+00:00');
}

/** Exit codes of commands; documented in `vestibule --help`. */
export const exitCodes = { done: 0, refused: 1, wrongUsage: 2, notAvailable: 3 } as const;

type Failure = Error & { exitCode: number };

/** An error that ends the command with one sentence for the operator; the stack of its cause is printed with `--verbose`. */
export function failure(sentence: string, kind: 'refused' | 'notAvailable' = 'refused', cause?: unknown): Failure {
  return Object.assign(new Error(sentence, { cause }), { exitCode: exitCodes[kind] });
}

export function isFailure(error: unknown): error is Failure {
  return error instanceof Error && typeof (error as Failure).exitCode === 'number';
}
