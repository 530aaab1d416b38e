// Adds up what the test runners wrote and prints the closing line `N passed, N failed`. Runs on any Node.
import { existsSync, readFileSync } from 'node:fs';

/** Null where the runner before has failed and this one was not begun. */
const results = (name) => {
  const file = new URL(`../test-results/${name}`, import.meta.url);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
};
const unit = results('vitest.json');
const browser = results('playwright.json')?.stats;
if (!unit || !browser) console.log(`not run: ${unit ? 'the browser tests' : 'any test'}`);

const seconds = (milliseconds) => `${Math.round(milliseconds / 1000)} s`;
if (unit) {
  const end = Math.max(...unit.testResults.map(({ endTime }) => endTime));
  console.log(`unit tests: ${unit.numTotalTests} in ${seconds(end - unit.startTime)}`);
}
if (browser) console.log(`browser tests: ${browser.expected + browser.unexpected} in ${seconds(browser.duration)}`);

const passed = (unit?.numPassedTests ?? 0) + (browser?.expected ?? 0);
const failed = (unit?.numFailedTests ?? 0) + (browser ? browser.unexpected + browser.flaky : 0);
const skipped = (unit ? unit.numPendingTests + unit.numTodoTests : 0) + (browser?.skipped ?? 0);
if (skipped > 0) console.log(`${skipped} skipped`);
console.log(`${passed} passed, ${failed} failed`);
