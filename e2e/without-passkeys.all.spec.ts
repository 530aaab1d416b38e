import type { Locator } from '@playwright/test';
import { appCode } from './authenticator-app.ts';
import { codeForm } from './code-form.ts';
import { invitationFor } from './invitation-for.ts';
import { passkeysAreKept } from './kept-passkeys.ts';
import { addCustomerTo } from './portal-accounts.ts';
import { newPassword } from './reset-forms.ts';
import { signInForm } from './sign-in-form.ts';
import { test as base, expect, password } from './test.ts';
import { textsOf } from './texts.ts';
import { appCodeIsPast, signInIsOld } from './time-passed.ts';

const texts = textsOf('en');

/** What a page has of passkeys: the button, what it says if none was used, and what the page says in place of the button. */
type Offer = { button: Locator; none: string; instead?: string };

type Walk = { goWithoutPasskeys: (see: (offer: Offer) => Promise<void>) => Promise<void> };

const test = base.extend<Walk>({
  /** Goes to every page that offers passkeys, and on from there without one; `see` judges what each offers. */
  goWithoutPasskeys: async ({ page, context, portal, inbox, newPerson, newPersonWithApp, javaScriptEnabled }, use) => {
    await use(async (see) => {
      const heading = page.getByRole('heading', { level: 1 });
      const button = (name: string) => page.getByRole('button', { name, exact: true });
      const signInByPasskey = { button: button(texts['login-passkey']), none: texts['login-passkey-none'] };
      const { username, key, recoveryCodes } = await newPersonWithApp();
      await passkeysAreKept(portal, username);

      await page.goto('/portal/login?destination=%2Fportal%2Faccount%2Fpasskeys%3Fdo%3Denrol');
      await see(signInByPasskey);
      await signInForm(page).send(username, password);
      await expect(heading).toHaveText(texts['twofa-title']);
      await see(signInByPasskey);
      await appCodeIsPast(portal, username);
      await codeForm(page, javaScriptEnabled).send(appCode(key));

      await expect(heading).toHaveText(texts['account-passkeys-title']);
      await see({
        button: button(texts['account-passkeys-add']),
        none: texts['account-passkeys-none'],
        instead: texts['account-passkeys-no-script'],
      });
      await page.getByRole('link', { name: texts.cancel }).click();
      await signInIsOld(portal, username);
      await page.getByRole('link', { name: texts['account-passkeys-remove-one'].replace('{name}', 'Phone') }).click();
      const code = page.getByLabel(texts['account-code']);
      await expect(code).toBeVisible();
      await see({ button: button(texts['account-proof-passkey']), none: texts['account-proof-passkey-none'] });
      await code.fill(recoveryCodes[0] ?? '');
      await button(texts.continue).click();
      await button(texts['account-passkeys-remove']).click();
      await expect(page.getByText(texts['account-notice-passkeyRemoved'])).toBeVisible();

      // The password of somebody who has a passkey does not set up the app that a customer requires.
      await context.clearCookies();
      const withPasskey = await newPerson({ customers: ['apps'] });
      await passkeysAreKept(portal, withPasskey.username);
      await page.goto('/portal/login');
      await signInForm(page).send(withPasskey.username, password);
      await expect(page.getByText(texts['register-elsewhere-passkey'])).toBeVisible();
      await see(signInByPasskey);
      await page.getByRole('link', { name: texts['return-to-login'] }).click();
      await expect(signInForm(page).button).toBeVisible();

      await page.goto(await invitationFor({ portal, inbox }, await newPerson()));
      await expect(heading).toHaveText(texts['invitation-title']);
      await see({ button: button(texts['passkey-instead']), none: texts['passkey-instead-none'] });
      await page.getByLabel(texts['invitation-password'], { exact: true }).fill(newPassword);
      await page.getByLabel(texts['invitation-repeat'], { exact: true }).fill(newPassword);
      await button(texts['invitation-button']).click();
      await expect(heading).toHaveText(texts['invitation-done-title']);

      const customer = `only-keys-${Date.now()}`;
      await addCustomerTo(portal, customer, { passkeys: 'only' });
      await page.goto(await invitationFor({ portal, inbox }, await newPerson({ customers: [customer] })));
      await expect(heading).toHaveText(texts['invitation-passkey-title']);
      await see({
        button: button(texts['invitation-passkey-button']),
        none: texts['account-passkeys-none'],
        instead: texts['passkey-no-script'],
      });
    });
  },
});

test.beforeEach(() => test.setTimeout(120_000));

test('without a script, no button and no page offers one', { tag: '@without-script-only' }, async ({
  page,
  goWithoutPasskeys,
}) => {
  await goWithoutPasskeys(async ({ button, instead }) => {
    await expect(button).toBeHidden();
    if (instead) await expect(page.getByText(instead)).toBeVisible();
  });
});

test('a browser without passkeys shows no button, in no place', async ({ page, goWithoutPasskeys }) => {
  await page.addInitScript(() => Reflect.deleteProperty(window, 'PublicKeyCredential'));
  await goWithoutPasskeys(async ({ button, instead }) => {
    // The script would show it later.
    await page.waitForLoadState('networkidle');
    await expect(button).toBeHidden();
    if (instead) await expect(page.getByText(instead)).toBeVisible();
  });
});

test('where there is no authenticator at all, every page says that none was used', async ({
  page,
  goWithoutPasskeys,
}) => {
  await goWithoutPasskeys(async ({ button, none, instead }) => {
    await button.click();
    await expect(page.getByText(none)).toBeVisible();
    await expect(button).toBeFocused();
    if (instead) await expect(page.getByText(instead)).toBeHidden();
  });
});
