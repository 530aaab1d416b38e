import { expect, type Page } from '@playwright/test';
import type { Language } from '#contract/languages.ts';
import type { MailInbox } from './mail-inbox.ts';
import type { PortalUnderTest } from './portal-under-test.ts';
import { textsOf } from './texts.ts';

/** A password that satisfies every rule. */
export const newPassword = 'Harbour-Lantern-77';

/** The form that sends a link, as users find it. */
export function forgottenForm(page: Page, language: Language = 'en') {
  const texts = textsOf(language);
  const email = page.getByLabel(texts.email);
  const button = page.getByRole('button', { name: texts['forgotten-button'] });
  return {
    email,
    button,
    async send(address: string): Promise<void> {
      await email.fill(address);
      await button.click();
    },
  };
}

/** The form for a new password, as users find it. */
export function changeForm(page: Page, language: Language = 'en') {
  const texts = textsOf(language);
  const password = page.getByLabel(texts['change-password'], { exact: true });
  const repeat = page.getByLabel(texts['change-repeat'], { exact: true });
  const button = page.getByRole('button', { name: texts['change-button'] });
  return {
    password,
    repeat,
    button,
    /** The hidden field of the form. */
    hash: page.getByRole('main').locator('input[name=hash]').first(),
    /** What tells a password manager whose password it is. */
    username: page.getByRole('main').locator('input[autocomplete=username]'),
    async fill(first: string, second = first): Promise<void> {
      await password.fill(first);
      await repeat.fill(second);
    },
    async send(first: string, second = first): Promise<void> {
      await this.fill(first, second);
      await button.click();
    },
  };
}

/** Requests a link for an address and returns it from the email. */
export async function linkFor({ portal, inbox }: Mailing, email: string): Promise<string> {
  expect(await portal.askForLinkPlainly(email)).toBe(204);
  return (await inbox.take(email, 'resetLink')).link;
}

type Mailing = { portal: PortalUnderTest; inbox: MailInbox };

/** The secret in a link. */
export function hashOf(link: string): string {
  const hash = new URL(link).searchParams.get('hash');
  if (!hash) throw new Error(`no hash in ${link}`);
  return hash;
}
