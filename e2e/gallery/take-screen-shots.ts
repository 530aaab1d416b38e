import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from '@playwright/test';
import { everyScreen, withQuery } from '../every-screen.ts';
import { MailInbox } from '../mail-inbox.ts';
import { Stages } from '../stages.ts';
import { password, startPortalWithUsers } from '../test.ts';

const folder = new URL('../../gallery/screens/', import.meta.url);

const sizes = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 },
];

/** Takes screenshots of every screen of the real product in light and dark mode, on a phone and a desktop. */
export async function takeScreenShots(browser: Browser): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const inbox = await MailInbox.open();
  const portal = await startPortalWithUsers({ env: inbox.env });
  const stages = new Stages({ portal, inbox, password });
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const viewport of sizes) {
        const page = await browser.newPage({ viewport, colorScheme });
        for (const { address, stage } of everyScreen) {
          await stages.enter(page.context(), stage);
          await page.goto(portal.origin + withQuery(address, 'lang=en'), { waitUntil: 'networkidle' });
          const name = address.replace('/portal/', '').replace(/\W+/g, '-') || 'start';
          const file = new URL(`${name}-${viewport.width}-${colorScheme}.png`, folder);
          await page.screenshot({ path: fileURLToPath(file) });
        }
        await page.close();
      }
    }
  } finally {
    await portal.discard();
    await inbox.close();
  }
}
