import type { Browser } from '@playwright/test';
import type { Language } from '#contract/languages.ts';
import { composeMail } from '#server/mail/compose-mail.ts';
import { type Mail, mailKinds } from '#server/people/mail-kinds.ts';
import { brandForTest } from '../../support/brand-for-test.ts';
import { type ColorScheme, colorSchemes, take } from './shots.ts';

/** A phone, and beside a list of emails. */
export const mailWidths = [390, 700];

/** The narrowest that still has to read well. */
const narrow = 320;

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
  browser: 'Firefox, Windows',
};

const long: Mail['details'] = {
  ...ordinary,
  username: 'maximiliane.oberwasserwirtschaftsdirektorin@wasserwirtschaftsverband.example',
  address: '2001:0db8:85a3:08d3:1319:8a2e:0370:7344',
};

/** Takes screenshots of every kind of email in light and dark mode, and of the worst cases for the layout. */
export async function takeMailShots(browser: Browser, languages: readonly Language[]): Promise<void> {
  for (const language of languages) {
    for (const scheme of colorSchemes) {
      for (const kind of mailKinds) {
        for (const width of mailWidths) await shoot(browser, { kind, language, scheme, width });
      }
      for (const kind of ['newDevice', 'signInCode'] as const)
        await shoot(browser, { kind, language, scheme, width: narrow, config: crowded, details: long });
    }
  }
}

const tokenOf: Partial<Record<Mail['kind'], string>> = {
  resetLink: 'A'.repeat(43),
  invitation: 'A'.repeat(43),
  signInCode: '402716',
};

type Shot = {
  kind: Mail['kind'];
  language: Mail['language'];
  scheme: ColorScheme;
  width: number;
  config?: MailConfig;
  details?: Mail['details'];
};

async function shoot(browser: Browser, shot: Shot): Promise<void> {
  const { kind, language, scheme, width, config = house, details = ordinary } = shot;
  const queuedAt = new Date(details.at);
  const token = tokenOf[kind] ?? null;
  const mail: Mail = { id: 'shot', kind, recipient: 'ada@acme.example', language, queuedAt, details, token };
  const viewport = { width, height: 700 };
  const page = await browser.newPage({ viewport, colorScheme: scheme, deviceScaleFactor: 2 });
  await page.setContent(composeMail(mail, config).html);
  await take(page, { of: 'mails', language, name: kind, width, scheme }, { fullPage: true });
  await page.close();
}
