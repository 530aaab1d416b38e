import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from '@playwright/test';
import { composeMail } from '#server/mail/compose-mail.ts';
import { type Mail, mailKinds } from '#server/storage/mail-kinds.ts';
import { brandForTest } from '#testing/brand-for-test.ts';

const folder = new URL('../../gallery/mails/', import.meta.url);

type MailConfig = Parameters<typeof composeMail>[1];

const house: MailConfig = {
  publicUrl: new URL('https://hub.example.com'),
  basePath: '/portal',
  brand: brandForTest({ name: 'Vestibule' }),
};

/** A light brand, and names that barely fit: the worst case for the layout. */
const crowded: MailConfig = {
  ...house,
  brand: brandForTest({ name: 'Wasserwirtschaftsverband Oberes Emmental', accentColour: '#ffcc00' }),
};

const ordinary: Mail['details'] = {
  username: 'ada.lovelace',
  at: '2026-03-03T14:05:09Z',
  address: '203.0.113.42',
  browser: 'Firefox on Windows',
};

const long: Mail['details'] = {
  ...ordinary,
  username: 'maximiliane.oberwasserwirtschaftsdirektorin@wasserwirtschaftsverband.example',
  address: '2001:0db8:85a3:08d3:1319:8a2e:0370:7344',
};

/** Takes screenshots of every kind of email in light and dark mode, on a phone and beside a list of emails. */
export async function takeMailShots(browser: Browser): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const kind of mailKinds) {
    for (const language of ['en', 'de'] as const) {
      for (const colorScheme of ['light', 'dark'] as const) {
        for (const width of [390, 700]) await shoot(browser, { kind, language, colorScheme, width });
      }
    }
  }
  for (const kind of ['newDevice', 'signInCode'] as const) {
    for (const colorScheme of ['light', 'dark'] as const)
      await shoot(browser, { kind, language: 'pl', colorScheme, width: 320, config: crowded, details: long });
  }
}

const tokenOf: Partial<Record<Mail['kind'], string>> = { resetLink: 'A'.repeat(43), signInCode: '402716' };

type Shot = {
  kind: Mail['kind'];
  language: Mail['language'];
  colorScheme: 'light' | 'dark';
  width: number;
  config?: MailConfig;
  details?: Mail['details'];
};

async function shoot(browser: Browser, shot: Shot): Promise<void> {
  const { kind, language, colorScheme, width, config = house, details = ordinary } = shot;
  const queuedAt = new Date(details.at);
  const token = tokenOf[kind] ?? null;
  const mail: Mail = { id: 'shot', kind, recipient: 'ada@acme.example', language, queuedAt, details, token };
  const page = await browser.newPage({ viewport: { width, height: 700 }, colorScheme, deviceScaleFactor: 2 });
  await page.setContent(composeMail(mail, config).html);
  const file = new URL(`${kind}-${language}-${width}-${colorScheme}.png`, folder);
  await page.screenshot({ path: fileURLToPath(file), fullPage: true });
  await page.close();
}
