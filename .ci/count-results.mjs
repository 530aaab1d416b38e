// Adds up what the test runners wrote and prints the closing line `N passed, N failed`. Runs on any Node.
import { readFileSync } from 'node:fs';

const results = (name) => JSON.parse(readFileSync(new URL(`../test-results/${name}`, import.meta.url), 'utf8'));
const unit = results('vitest.json');
const browser = results('playwright.json').stats;

const passed = unit.numPassedTests + browser.expected;
const failed = unit.numFailedTests + browser.unexpected + browser.flaky;
const skipped = unit.numPendingTests + unit.numTodoTests + browser.skipped;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
