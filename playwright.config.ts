import { defineConfig } from '@playwright/test';
import { browserOptions } from './e2e/browser-options.ts';
import type { Engine } from './e2e/browsers/engines.ts';
import { oldChromium, oldChromiums } from './e2e/find-old-chromium.ts';

const { launchOptions } = browserOptions;
// Starts no renderer in reserve, which each test would throw away; a site still has its own. The bench does without.
const args = [...(launchOptions?.args ?? []), '--renderer-process-limit=1'];

// The unit test results are in test-results too, so Playwright empties a folder of its own.
export default defineConfig<object, { engine: Engine }>({
  testDir: 'e2e',
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
  // Tests run with JavaScript; tags mark those that also, or only, run without, and those for old browsers.
  projects: [
    { name: 'script', grepInvert: /@without-script-only|@other-engine/ },
    ...(['Firefox', 'WebKit'] as const).map((engine) => ({
      name: engine,
      grep: /@every-(?:browser|engine)|@other-engine/,
      // One browser, and one portal for it.
      workers: 1,
      use: { engine },
    })),
    { name: 'no script', grep: /@without-script/, use: { javaScriptEnabled: false } },
    ...oldChromiums.map((version) => ({
      name: `Chromium ${version}`,
      // Each worker starts a portal, which takes longer than half of these few tests.
      workers: 1,
      grep: version < 105 ? /@oldest|@every-browser/ : /@old|@every-browser/,
      use: { launchOptions: { ...launchOptions, executablePath: oldChromium(version) } },
    })),
  ],
});
