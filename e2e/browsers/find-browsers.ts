import { bringFirefox } from './find-firefox.ts';
import { bringWebkit } from './find-webkit.ts';

// Unlike Chromium, they are no condition: where one cannot be had, its tests are skipped.
if (import.meta.main)
  for (const [browser, missing] of [
    ['Firefox', await bringFirefox()],
    ['WebKit', await bringWebkit()],
  ])
    if (missing) console.error(`There is no ${browser}, so the tests in it are skipped: ${missing}.`);
