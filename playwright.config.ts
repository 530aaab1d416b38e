import { defineConfig } from '@playwright/test';
import { browserOptions } from '#test/browser/browser-options.ts';
import type { Engine } from '#test/browser/browsers/engines.ts';
import { runsAll } from '#test/support/runs-all.ts';

const { launchOptions } = browserOptions;
// Starts no renderer in reserve, which each test would throw away; a site still has its own. The bench does without.
const args = [...(launchOptions?.args ?? []), '--renderer-process-limit=1'];

const everyBrowser = '**/browsers/*.all.spec.ts';
const testIgnore = runsAll ? everyBrowser : '**/*.all.spec.ts';
const engines: Engine[] = ['Firefox', 'WebKit', 'old Chromium'];

// The unit test results are in test-results too, so Playwright empties a folder of its own.
export default defineConfig<object, { engine: Engine }>({
  testDir: 'test/browser',
  outputDir: 'test-results/browser',
  fullyParallel: true,
  workers: 2,
  retries: 0,
  forbidOnly: Boolean(process.env.CI),
  // For hangs, not measurements: a busy machine takes several times as long as an idle one.
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [['list'], ['json', { outputFile: 'test-results/playwright.json' }]],
  use: { ...browserOptions, launchOptions: { ...launchOptions, args } },
  // Tests run with JavaScript in Chromium; tags mark those that also, or only, run without.
  projects: [
    { name: 'script', testIgnore, grepInvert: /@without-script-only/ },
    { name: 'no script', testIgnore, grep: /@without-script/, use: { javaScriptEnabled: false } },
    // One worker each: one browser, and one portal for it.
    ...(runsAll ? engines : []).map((engine) => ({
      name: engine,
      testMatch: everyBrowser,
      workers: 1,
      use: { engine },
    })),
  ],
});
