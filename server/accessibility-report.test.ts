import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { accountSectionOf } from '#contract/account.ts';
import { screenOfPath } from '#contract/screens.ts';
import { criteria } from '../e2e/accessibility/criteria.ts';
import { readings, tests } from '../e2e/accessibility/evidence.ts';
import { printReport } from '../e2e/accessibility/print-report.ts';
import { reportedScreens } from '../e2e/accessibility/screens.ts';
import { timeLimits } from '../e2e/accessibility/time-limits.ts';
import { everyScreen } from '../e2e/every-screen.ts';

const root = new URL('../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** The criteria of level A and AA by their guidelines, from WCAG 2.2. */
const numbers: Record<string, number[]> = {
  '1.1': [1],
  '1.2': [1, 2, 3, 4, 5],
  '1.3': [1, 2, 3, 4, 5],
  '1.4': [1, 2, 3, 4, 5, 10, 11, 12, 13],
  '2.1': [1, 2, 4],
  '2.2': [1, 2],
  '2.3': [1],
  '2.4': [1, 2, 3, 4, 5, 6, 7, 11],
  '2.5': [1, 2, 3, 4, 7, 8],
  '3.1': [1, 2],
  '3.2': [1, 2, 3, 4, 6],
  '3.3': [1, 2, 3, 4, 7, 8],
  '4.1': [2, 3],
};

describe('the accessibility report', () => {
  it('has every criterion of level A and AA, in order: 31 and 24', () => {
    expect(criteria.map(({ id }) => id)).toEqual(
      Object.entries(numbers).flatMap(([guideline, last]) => last.map((number) => `${guideline}.${number}`)),
    );
    const ofLevel = (level: string) => criteria.filter((criterion) => criterion.level === level).length;
    expect([ofLevel('A'), ofLevel('AA')]).toEqual([31, 24]);
  });

  it('says of each how it is met or why it does not apply, by a test or a reading', () => {
    for (const { id, how, never, tests = [], readings = [] } of criteria) {
      expect(how === undefined, `${id}: either`).toBe(never !== undefined);
      expect(tests.length + readings.length, id).toBeGreaterThan(0);
    }
  });

  it('names only tests that exist, and each test and reading it lists', () => {
    for (const { file, title } of Object.values(tests)) {
      expect(existsSync(new URL(file, root)), file).toBe(true);
      expect(read(file), `${title} in ${file}`).toContain(title);
    }
    const named = new Set(criteria.flatMap(({ tests = [], readings = [] }) => [...tests, ...readings]));
    const others = [...timeLimits.map(({ test }) => test), 'found'];
    expect(new Set([...named, ...others])).toEqual(new Set([...Object.keys(tests), ...Object.keys(readings)]));
  });

  it('has every screen, each of which the tests of all screens open', () => {
    const opened = everyScreen.map(({ address }) => {
      const path = address.replace('/portal', '').split('?')[0] ?? '';
      const section = accountSectionOf(path);
      return section === null ? screenOfPath(path).name : `account.${section}`;
    });
    const spec = read('e2e/every-screen.spec.ts') + read('e2e/server-pages.ts') + read('e2e/every-screen.ts');
    for (const name of Object.keys(reportedScreens))
      expect(opened.includes(name) || spec.includes(heading[name] ?? name), name).toBe(true);
  });

  it('stands in the documentation (node e2e/accessibility/print-report.ts)', () => {
    const page = read('docs/accessibility.md');
    for (const [heading, text] of Object.entries(printReport())) {
      const part = page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
      expect(part, heading).toContain(`\n${text}`);
    }
  });
});

/** By which the tests know a screen of the server that a stage leads to. */
const heading: Record<string, string> = {
  signInOnceMore: 'once-more-title',
  registerElsewhere: 'register-elsewhere-title',
  recoveryCodes: 'recovery-codes-title',
  providerBegan: 'provider-began-title',
  otherAccount: 'other-account-title',
  oneMoment: 'please-wait',
  signedIn: '/portal/portal.html',
};
