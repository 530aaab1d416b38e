import { expect, type Page } from '@playwright/test';
import { textsOf } from './texts.ts';

const texts = textsOf('en');

/** The sign-in form in English, as users find it. */
export function signInForm(page: Page) {
  const username = page.getByLabel(texts['login-username']);
  const password = page.getByLabel('Password', { exact: true });
  const button = page.getByRole('button', { name: 'Sign in', exact: true });
  return {
    username,
    password,
    button,
    async fill(name: string, secret: string): Promise<void> {
      await username.fill(name);
      await password.fill(secret);
    },
    async send(name: string, secret: string): Promise<void> {
      await this.fill(name, secret);
      await button.click();
    },
  };
}

/** Signs in from the sign-in form and waits until the hub's page says so. */
export async function signIn(page: Page, name: string, secret: string): Promise<void> {
  await page.goto('/portal/login');
  await signInForm(page).send(name, secret);
  await expectSignedIn(page, name);
}

/** The hub's page says who is signed in. */
export async function expectSignedIn(page: Page, username: string): Promise<void> {
  await expect(page.getByRole('heading', { name: 'You’re signed in' })).toBeVisible();
  await expect(page.getByText(`Username ${username}`, { exact: true })).toBeVisible();
}

export const signOutButton = (page: Page) => page.getByRole('button', { name: 'Sign out' });

/** Keeps the browser from posting any form, so that the page can be inspected meanwhile. */
export async function keepHere(page: Page): Promise<void> {
  await page.evaluate(() => addEventListener('submit', (event) => event.preventDefault(), { once: true }));
}
