import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from '@playwright/test';
import { type Language, languages } from '#contract/languages.ts';
import { office } from '#demo/people.ts';
import { composeMail } from '#server/mail/compose-mail.ts';
import { type Mail, mailKinds } from '#server/people/mail-kinds.ts';
import { brandForTest } from '../support/brand-for-test.ts';
import { browserOptions } from './browser-options.ts';
import { DemoProcess, DemoVisit } from './demo-under-test.ts';
import { comeFromOwnPage, everyScreen, withQuery } from './every-screen.ts';
import { MailInbox } from './mail-inbox.ts';
import { Stages } from './stages.ts';
import { password, startPortalWithUsers } from './test.ts';

// `npm run gallery`, or for some languages only, `npm run gallery -- de pl`: a picture of every screen of the real product and of
// every email, in light and dark mode, and two pages of the demo's desk. docs/pictures/sign-in.png is
// gallery/screens/en/login-1440-light.png; its desk-*.png are gallery/desk-*.png with 256 colours.

const folder = new URL('../../gallery/', import.meta.url);
const schemes = ['light', 'dark'] as const;

async function take(page: Page, path: string): Promise<void> {
  const file = new URL(path, folder);
  mkdirSync(new URL('.', file), { recursive: true });
  await page.screenshot({ path: fileURLToPath(file), fullPage: true });
}

/** On a phone and on a desktop. */
async function takeScreens(browser: Browser, shown: readonly Language[]): Promise<void> {
  const inbox = await MailInbox.open();
  const portal = await startPortalWithUsers({ env: inbox.env });
  const stages = new Stages({ portal, inbox, password });
  try {
    const page = await browser.newPage({ reducedMotion: 'reduce' });
    await comeFromOwnPage(page.context());
    for (const { address, stage } of everyScreen) {
      await stages.enter(page.context(), stage);
      const name = address.replace('/portal/', '').replace(/\W+/g, '-').replace(/^-|-$/g, '') || 'start';
      for (const language of shown) {
        await page.goto(portal.origin + withQuery(address, `lang=${language}`), { waitUntil: 'networkidle' });
        for (const [width, height] of [
          [390, 844],
          [1440, 900],
        ] as const) {
          await page.setViewportSize({ width, height });
          for (const colorScheme of schemes) {
            await page.emulateMedia({ colorScheme });
            await take(page, `screens/${language}/${name}-${width}-${colorScheme}.png`);
          }
        }
      }
    }
  } finally {
    await portal.discard();
    await inbox.close();
  }
}

type MailConfig = Parameters<typeof composeMail>[1];

/** A light brand, and names that barely fit: the worst case for the layout. */
const config: MailConfig = {
  publicUrl: new URL('https://hub.example.com'),
  basePath: '/portal',
  brand: brandForTest({ name: 'Wasserwirtschaftsverband Oberes Emmental', accentColour: '#ffcc00' }),
};
const details: Mail['details'] = {
  username: 'maximiliane.oberwasserwirtschaftsdirektorin@wasserwirtschaftsverband.example',
  at: '2026-03-03T14:05:09Z',
  address: '2001:0db8:85a3:08d3:1319:8a2e:0370:7344',
  browser: 'Firefox, Windows',
};

const tokens: Partial<Record<Mail['kind'], string>> = {
  resetLink: 'A'.repeat(43),
  invitation: 'A'.repeat(43),
  signInCode: '402716',
};

/** On the narrowest phone, and beside a list of emails. */
async function takeMails(browser: Browser, shown: readonly Language[]): Promise<void> {
  for (const language of shown)
    for (const colorScheme of schemes)
      for (const kind of mailKinds)
        for (const width of [320, 700]) {
          const mail: Mail = {
            ...{ id: 'shot', kind, recipient: 'ada@acme.example', language, queuedAt: new Date(details.at) },
            ...{ details, token: tokens[kind] ?? null },
          };
          const page = await browser.newPage({ viewport: { width, height: 700 }, colorScheme, deviceScaleFactor: 2 });
          await page.setContent(composeMail(mail, config).html);
          await take(page, `mails/${language}/${kind}-${width}-${colorScheme}.png`);
          await page.close();
        }
}

/** Why a sign-in failed, and a rehearsed network. */
async function takeDesk(browser: Browser): Promise<void> {
  const demo = await DemoProcess.start();
  try {
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    const page = await context.newPage();
    const visit = new DemoVisit(page, demo);
    const keep = async (name: string, height: number) => {
      await page.setViewportSize({ width: 1440, height });
      await page.screenshot({ path: fileURLToPath(new URL(`desk-${name}.png`, folder)) });
    };
    await visit.comeToDesk('desk-support', 'sam');
    const reference = await visit.codeShownBy('desk-support');
    await page.getByRole('searchbox').fill(reference);
    await page.getByRole('main').getByRole('link', { name: reference }).click();
    await page.locator('.verdict').waitFor();
    await keep('person', 712);
    await visit.comeToDesk('desk-administrator', 'hana');
    await page.locator('textarea[name=networks]').fill(office);
    await page.getByRole('button', { name: 'Rehearse' }).click();
    await page.locator('.share').waitFor();
    await keep('customer', 1040);
  } finally {
    await demo.discard();
  }
}

const asked = process.argv.slice(2);
const shown = asked.length === 0 ? languages : languages.filter((language) => asked.includes(language));
if (shown.length === 0) throw new Error(`Name one of ${languages.join(', ')}`);

const browser = await chromium.launch(browserOptions.launchOptions);
try {
  await takeDesk(browser);
  await takeMails(browser, shown);
  await takeScreens(browser, shown);
} finally {
  await browser.close();
}
