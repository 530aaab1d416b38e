import type { PlaywrightTestOptions, PlaywrightWorkerOptions } from '@playwright/test';
import { findChromium } from './find-browsers.ts';

const executablePath = findChromium(process.env);
const isRoot = process.getuid?.() === 0;

/** How every browser of these tests is started. */
export const browserOptions: Partial<PlaywrightTestOptions & PlaywrightWorkerOptions> = {
  launchOptions: {
    ...(executablePath && { executablePath }),
    args: [
      ...(isRoot ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  },
  locale: 'en-GB',
  viewport: { width: 1280, height: 800 },
  // Waits on nothing that an application might delay.
  actionTimeout: 20_000,
  navigationTimeout: 20_000,
};
