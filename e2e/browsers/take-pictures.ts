import { writeFileSync } from 'node:fs';
import { chromium, type Browser as PlaywrightBrowser } from '@playwright/test';
import { browserOptions } from '../browser-options.ts';
import { oldChromium, oldChromiums } from '../find-old-chromium.ts';
import { PlainBrowser } from '../plain-browser.ts';
import { addUserTo } from '../portal-accounts.ts';
import type { PortalUnderTest } from '../portal-under-test.ts';
import { password, startPortalWithUsers } from '../test.ts';
import { textsOf } from '../texts.ts';
import { startEngine } from './engines.ts';
import type { Browser } from './visit.ts';
import { Visitor } from './visitor.ts';

// The pictures of docs/browsers.md: `node e2e/browsers/take-pictures.ts`.

const texts = textsOf('en');
const box = texts['code-digit'].replace('{position}', '1').replace('{length}', '6');
const { launchOptions } = browserOptions;

type Shot = { title: string; png: Buffer };

/** The sign-in form after a wrong password, and the form for a code. */
async function shotsIn(browser: Browser, javaScript: boolean, portal: PortalUnderTest): Promise<[Buffer, Buffer]> {
  const visit = await browser.visit({ javaScript });
  const visitor = new Visitor(visit, portal.origin);
  await visitor.open('/portal/login');
  await visitor.fill(texts['login-username'], 'pia');
  await visitor.fill(texts['login-password'], 'not-the-password');
  await visitor.press('button', texts['login-button']);
  await visitor.sees(texts['login-fail-default-title']);
  if (javaScript) await visitor.expectDisabled(texts['login-button']);
  await visit.call(() => scrollTo(0, 0));
  const failed = await visit.picture();
  await visitor.open('/portal/login');
  await visitor.fill(texts['login-username'], 'pia');
  await visitor.fill(texts['login-password'], password);
  await visitor.press('button', texts['login-button']);
  await visitor.sees(texts['twofa-title']);
  if (javaScript) await visitor.expectFocus(box);
  const code = await visit.picture();
  await visit.close();
  return [failed, code];
}

async function writeSheet(browser: PlaywrightBrowser, name: string, shots: readonly Shot[]): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1240, height: 300 } });
  const cards = shots.map(
    ({ title, png }) =>
      `<figure><figcaption>${title}</figcaption><img src="data:image/png;base64,${png.toString('base64')}"></figure>`,
  );
  await page.setContent(`<style>
body { margin: 10px; display: grid; grid-template-columns: repeat(3, 400px); gap: 10px; font: 14px sans-serif; background: #fff }
figure { margin: 0 }
figcaption { margin-bottom: 4px }
img { width: 398px; border: 1px solid #ccc }
</style>${cards.join('')}`);
  const png = await page.screenshot({ fullPage: true });
  writeFileSync(new URL(`../../docs/pictures/${name}.png`, import.meta.url), png);
  await page.close();
}

const startChromium = (version?: number) =>
  startEngine('Chromium', () =>
    chromium.launch({ ...launchOptions, ...(version && { executablePath: oldChromium(version) }) }),
  );

const kinds: { title: string; start: () => Promise<Browser>; javaScript?: false }[] = [
  { title: 'Chromium of today', start: () => startChromium() },
  { title: 'Firefox ESR', start: () => startEngine('Firefox', () => chromium.launch()) },
  { title: 'WebKitGTK', start: () => startEngine('WebKit', () => chromium.launch()) },
  ...oldChromiums
    .filter((version) => version === 111 || version === 92)
    .reverse()
    .map((version) => ({ title: `Chromium ${version}`, start: () => startChromium(version) })),
  {
    title: 'Firefox ESR without JavaScript',
    start: () => startEngine('Firefox', () => chromium.launch()),
    javaScript: false,
  },
];

const portal = await startPortalWithUsers();
try {
  await addUserTo(portal, 'pia', password, { customers: ['apps'] });
  await (await PlainBrowser.signIn(portal, 'pia', password)).registerApp();
  const failed: Shot[] = [];
  const codes: Shot[] = [];
  for (const { title, start, javaScript = true } of kinds) {
    const browser = await start();
    const [first, second] = await shotsIn(browser, javaScript, portal);
    failed.push({ title, png: first });
    codes.push({ title, png: second });
    await browser.close();
  }
  const browser = await chromium.launch(launchOptions);
  await writeSheet(browser, 'browsers-wrong-password', failed);
  await writeSheet(browser, 'browsers-code', codes);
  await browser.close();
} finally {
  await portal.discard();
}
