import { expect, type Page } from '@playwright/test';

/** The pages of LemonLDAP::NG. The password of everybody there is their name. */
export function atLemonldap(page: Page) {
  // Its script gives the fields their words, so without it they have none.
  const user = page.locator('input[name="user"]');
  const button = (name: string) => page.getByRole('button', { name });
  return {
    user,
    async signIn(name: string, secret = name): Promise<void> {
      await user.fill(name);
      await page.locator('input[name="password"]').fill(secret);
      await button('Connect').click();
    },
    refuse: () => button('Refuse').click(),
    /**
     * What is between its form and ours: by OpenID Connect it asks once what we may know; by SAML its page with the
     * answer posts itself where script runs, and has a button where not.
     */
    async pressOn(): Promise<void> {
      const next = button('Accept').or(button('Submit'));
      const arrived = page.getByRole('heading', { name: /signed in|didn’t work/i });
      await expect(next.or(arrived)).toBeVisible();
      if (await next.isVisible()) await next.click();
    },
  };
}
