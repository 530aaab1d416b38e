import { chromium } from '@playwright/test';
import { languages } from '#contract/languages.ts';
import { browserOptions } from '../browser-options.ts';
import { makeSheets } from './make-sheets.ts';
import { takeMailShots } from './take-mail-shots.ts';
import { takeScreenShots } from './take-screen-shots.ts';

// `npm run gallery`, or for some languages only: `npm run gallery -- de pl`.

const asked = process.argv.slice(2);
const shown = asked.length === 0 ? languages : languages.filter((language) => asked.includes(language));
if (shown.length === 0) throw new Error(`Name one of ${languages.join(', ')}`);

const browser = await chromium.launch(browserOptions.launchOptions);
try {
  await takeMailShots(browser, shown);
  await takeScreenShots(browser, shown);
  await makeSheets(browser, shown);
} finally {
  await browser.close();
}
