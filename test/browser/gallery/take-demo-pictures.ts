import { fileURLToPath } from 'node:url';
import { chromium, type Page } from '@playwright/test';
import { browserOptions } from '../browser-options.ts';
import { DemoProcess } from '../demo-under-test.ts';
import { signInForm } from '../forms.ts';

// The README's pictures of the demo: `node test/browser/gallery/take-demo-pictures.ts`.

const folder = new URL('../../../docs/pictures/', import.meta.url);
const demo = await DemoProcess.start();
const browser = await chromium.launch(browserOptions.launchOptions);
try {
  const page = await browser.newPage({ viewport: { width: 1100, height: 800 }, reducedMotion: 'reduce' });
  await page.goto(demo.startPage);
  await take(page, 'demo-start');
  const password = await page.locator('#case-plain code').nth(1).innerText();
  await page.goto(`${demo.startPage}open/plain`);
  await take(page, 'demo-portal');
  await signInForm(page).password.fill(password);
  await signInForm(page).button.click();
  await page.getByRole('heading', { name: 'You are in' }).waitFor();
  await take(page, 'demo-hub');
} finally {
  await browser.close();
  await demo.discard();
}

async function take(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: fileURLToPath(new URL(`${name}.png`, folder)) });
}
