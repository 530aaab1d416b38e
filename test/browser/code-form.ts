import { expect, type Page } from '@playwright/test';
import type { Language } from '#contract/languages.ts';
import { textsOf } from './texts.ts';

/** The form for the six digits, as users find it: six boxes, or one plain field without JavaScript. */
export function codeForm(page: Page, isScripted = true, language: Language = 'en') {
  const texts = textsOf(language);
  const box = (position: number) =>
    page.getByLabel(texts['code-digit'].replace('{position}', String(position)).replace('{length}', '6'));
  const field = isScripted ? box(1) : page.getByLabel(texts.code, { exact: true });
  const button = page.getByRole('button', { name: texts['twofa-verify'], exact: true });
  return {
    box,
    field,
    button,
    remember: page.getByLabel(texts['twofa-remember']),
    /** Types a code; boxes submit it automatically. */
    async send(code: string): Promise<void> {
      await field.click();
      if (isScripted) return await page.keyboard.type(code);
      await field.fill(code);
      await button.click();
    },
    /** Sends a code that is refused, and waits for the message. */
    async sendWrong(code: string, message = texts['twofa-error-try-again-with-code']): Promise<void> {
      const answered = isScripted ? page.waitForResponse('**/verify') : page.waitForEvent('load');
      await this.send(code);
      await answered;
      await expect(page.getByRole('main').getByText(message)).toBeVisible();
      await expect(field).toHaveValue('');
      if (isScripted) await expect(field).toBeFocused();
    },
  };
}

/** The displayed key of the app to register, in groups of four. */
export const shownKey = (page: Page) => page.locator('.secret');

/** The same key as apps accept it. */
export async function keyToRegister(page: Page): Promise<string> {
  return (await shownKey(page).innerText()).replace(/\s/g, '');
}

export const recoveryCodes = (page: Page) => page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
