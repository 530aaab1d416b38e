import { defineConfig } from '@playwright/test';
import { browserOptions } from './e2e/browser-options.ts';

// The result of the unit tests lies in test-results too, so Playwright gets a folder of its own to empty.
export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results/browser',
  fullyParallel: true,
  workers: 2,
  retries: 0,
  forbidOnly: Boolean(process.env.CI),
  timeout: 30_000,
  expect: { timeout: 5_000 },
  reporter: [['list'], ['json', { outputFile: 'test-results/playwright.json' }]],
  use: browserOptions,
  // A journey runs with script; the tag says where it must also, or only, work without.
  projects: [
    { name: 'script', grepInvert: /@without-script-only/ },
    { name: 'no script', grep: /@without-script/, use: { javaScriptEnabled: false } },
  ],
});
