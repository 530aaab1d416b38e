import { chromium } from '@playwright/test';
import { browserOptions } from '../browser-options.ts';
import { takeMailShots } from './take-mail-shots.ts';
import { takeScreenShots } from './take-screen-shots.ts';

const browser = await chromium.launch(browserOptions.launchOptions);
try {
  await takeMailShots(browser);
  await takeScreenShots(browser);
} finally {
  await browser.close();
}
