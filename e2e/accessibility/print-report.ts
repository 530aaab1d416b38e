import { type Criterion, clauseOf, criteria } from './criteria.ts';
import { type ReadingKey, readings, type TestKey, tests } from './evidence.ts';
import { reportedScreens, type ScreenName, screensWith } from './screens.ts';
import { lengthInWords, timeLimits } from './time-limits.ts';

const testKeys = Object.keys(tests) as TestKey[];
const readingKeys = Object.keys(readings) as ReadingKey[];

const testId = (key: TestKey) => `T${testKeys.indexOf(key) + 1}`;
const readingId = (key: ReadingKey) => `R${readingKeys.indexOf(key) + 1}`;

/** The screens that a criterion applies to. */
function screensOf({ on = [], never }: Criterion): ScreenName[] {
  return never === undefined ? screensWith(...on) : [];
}

/** Criteria that every screen has to meet need no row for each screen. */
const ofSomeScreens = criteria.filter(({ on }) => on !== undefined);

/** The tables of docs/accessibility.md by their headings; `node e2e/accessibility/print-report.ts` prints them. */
export function printReport(): Record<string, string> {
  return {
    'Criterion by criterion': table(
      ['WCAG 2.2', 'Level', 'EN 301 549', 'Result', 'How', 'Shown by'],
      criteria.map((criterion) => [
        `${criterion.id} ${criterion.name}`,
        criterion.level,
        clauseOf(criterion) ?? '–',
        resultOf(criterion),
        criterion.never ?? criterion.how ?? '',
        [...(criterion.tests ?? []).map(testId), ...(criterion.readings ?? []).map(readingId)].join(', '),
      ]),
    ),
    'Screen by screen': table(
      ['Screen', 'What it is', ...ofSomeScreens.map(({ id }) => id)],
      (Object.keys(reportedScreens) as ScreenName[]).map((name) => [
        `\`${name}\``,
        reportedScreens[name].what,
        ...ofSomeScreens.map((criterion) => (screensOf(criterion).includes(name) ? 'met' : '–')),
      ]),
    ),
    'Time limits': table(
      ['What ends', 'After', 'Told', 'What happens then', 'More time', 'Shown by'],
      timeLimits.map(({ what, length, told, after, more, test }) => [
        what,
        lengthInWords(length),
        told,
        after,
        more,
        testId(test),
      ]),
    ),
    'The tests': table(
      ['', 'File', 'Test or step'],
      testKeys.map((key) => [testId(key), `\`${tests[key].file}\``, tests[key].title]),
    ),
    'The readings': table(
      ['', 'What was read', 'How', 'By', 'When'],
      readingKeys.map((key) => {
        const { what, how, by, when } = readings[key];
        return [readingId(key), what, how, by, when];
      }),
    ),
  };
}

function resultOf(criterion: Criterion): string {
  if (criterion.never !== undefined) return 'not applicable';
  return criterion.on ? 'met where it applies' : 'met';
}

function table(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

if (import.meta.main)
  for (const [heading, text] of Object.entries(printReport())) process.stdout.write(`## ${heading}\n\n${text}\n`);
