import type { Browser } from '@playwright/test';
import type { Language } from '#contract/languages.ts';
import { everyScreen, withQuery } from '../every-screen.ts';
import { MailInbox } from '../mail-inbox.ts';
import { comeFromOwnPage } from '../server-pages.ts';
import { Stages } from '../stages.ts';
import { password, startPortalWithUsers } from '../test.ts';
import { colorSchemes, take } from './shots.ts';

/** A phone and a desktop. */
export const screenSizes = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 },
];

/** Each screen in each of its states, by a name that fits a file. */
export const screenNames = everyScreen.map(({ address }) => {
  return address.replace('/portal/', '').replace(/\W+/g, '-').replace(/^-|-$/g, '') || 'start';
});

/** Takes screenshots of every screen of the real product, in light and dark mode, on a phone and a desktop. */
export async function takeScreenShots(browser: Browser, languages: readonly Language[]): Promise<void> {
  const inbox = await MailInbox.open();
  const portal = await startPortalWithUsers({ env: inbox.env });
  const stages = new Stages({ portal, inbox, password });
  try {
    const page = await browser.newPage({ reducedMotion: 'reduce' });
    await comeFromOwnPage(page.context());
    for (const [index, { address, stage }] of everyScreen.entries()) {
      await stages.enter(page.context(), stage);
      for (const language of languages) {
        await page.goto(portal.origin + withQuery(address, `lang=${language}`), { waitUntil: 'networkidle' });
        for (const size of screenSizes) {
          await page.setViewportSize(size);
          for (const scheme of colorSchemes) {
            await page.emulateMedia({ colorScheme: scheme });
            const shot = {
              of: 'screens',
              language,
              name: screenNames[index] ?? '',
              width: size.width,
              scheme,
            } as const;
            await take(page, shot, { fullPage: true });
          }
        }
      }
    }
  } finally {
    await portal.discard();
    await inbox.close();
  }
}
