import { expect, type Page, test } from '@playwright/test';
import { textsOf } from './texts.ts';

const texts = textsOf('en');

export const ssoButton = (page: Page) => page.getByRole('button', { name: texts['login-sso'] });

/** The form that asks for an address. */
export function ssoForm(page: Page) {
  const email = page.getByLabel(texts.email);
  const button = page.getByRole('button', { name: texts['sso-button'] });
  return {
    email,
    button,
    async send(address: string): Promise<void> {
      await email.fill(address);
      await button.click();
    },
  };
}

/** The page of a provider in these tests. */
export function atProvider(page: Page) {
  const email = page.getByLabel('Email', { exact: true });
  return {
    email,
    signIn: () => page.getByRole('button', { name: 'Sign in' }).click(),
    cancel: () => page.getByRole('link', { name: 'Cancel' }).click(),
  };
}

/**
 * A SAML provider's page with the answer, and ours that posts it to our own origin, post themselves with JavaScript, and have
 * a button without.
 */
export async function pressOn(page: Page): Promise<void> {
  if (test.info().project.use.javaScriptEnabled !== false) return;
  for (const name of ['Submit', texts.continue]) await page.getByRole('button', { name, exact: true }).last().click();
}

/** Expects the page of a failed single sign-on; returns its reference. */
export async function expectFailure(page: Page, type: 'oidc' | 'saml' = 'oidc'): Promise<string> {
  await expect(page).toHaveURL(new RegExp(`/loginfail/${type}`));
  await expect(page.getByRole('heading', { name: texts[`login-fail-${type}-title`] })).toBeVisible();
  const reference = page.getByText(/[0-9A-Z]{4}-[0-9A-Z]{4}/);
  await expect(reference).toBeVisible();
  return /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(await reference.innerText())?.[0] ?? '';
}
