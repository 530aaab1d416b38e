import type { Page } from '@playwright/test';

/** The pages of LemonLDAP::NG. Everyone's password there is their name. */
export function atLemonldap(page: Page) {
  // Its script sets the labels of the fields, so without it they have none.
  const user = page.locator('input[name="user"]');
  const button = (name: string) => page.getByRole('button', { name });
  return {
    user,
    async signIn(name: string, secret = name): Promise<void> {
      await user.fill(name);
      await page.locator('input[name="password"]').fill(secret);
      await button('Connect').click();
    },
    /** Its message for a wrong password, which its script inserts by this number. */
    wrongCredentials: page.locator('[trmsg="5"]'),
    refuse: () => button('Refuse').click(),
  };
}
