import type { Page } from '@playwright/test';
import { appCode } from '../support/authenticator-app.ts';
import { codeForm, heading, keyToRegister, newPassword, recoveryCodes, signIn, signInForm } from './forms.ts';
import { deviceIsRemembered, sessionIsElsewhere, sessionsEnd, signInIsOld } from './portal-database.ts';
import { both, expect, password, test } from './test.ts';
import { texts, textsOf } from './texts.ts';

/** A button may say besides what it is about. */
const press = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name}(?:: |$)`) }).click();
const follow = (page: Page, name: string) => page.getByRole('link', { name }).click();

test.use({ timezoneId: 'America/New_York' });

/** Opens a section from the stand-in page. */
async function openSection(page: Page, title: keyof typeof texts): Promise<void> {
  await page.goto('/portal/portal.html');
  await follow(page, texts['your-account']);
  await expect(heading(page)).toContainText(texts['account-title']);
  await page.getByRole('link', { name: new RegExp(`: ${texts[title]}$`) }).click();
  await expect(heading(page)).toHaveText(texts[title]);
}

test(
  'the password is changed, other sessions and devices are ended, sign-ins are told, and the language is chosen',
  both,
  async ({ page, portal, newPerson, inbox, javaScriptEnabled }) => {
    const { username, email } = await newPerson();
    await signIn(page, username, password);
    await openSection(page, 'account-password-title');
    for (const [current, notice] of [
      ['not-the-password', 'account-notice-passwordWrong'],
      [password, 'account-notice-passwordChanged'],
    ] as const) {
      await page.getByLabel(texts['account-password-current']).fill(current);
      await page.getByLabel(texts['change-password'], { exact: true }).fill(newPassword);
      await page.getByLabel(texts['change-repeat']).fill(newPassword);
      if (javaScriptEnabled) await expect(page.locator('#rules .met')).toHaveCount(4);
      await press(page, texts['change-button']);
      await expect(page.getByText(texts[notice])).toBeVisible();
    }
    await inbox.take(email, 'passwordChanged');

    await sessionIsElsewhere(portal, username, 'Safari, iOS');
    await deviceIsRemembered(portal, username, 'Firefox, Windows');
    await openSection(page, 'account-sessions-title');
    const entries = page.getByRole('main').getByRole('listitem');
    await expect(entries).toHaveCount(2);
    await expect(entries.first()).toContainText(texts['account-this']);
    await press(page, texts['account-sessions-end']);
    await expect(page.getByText(texts['account-notice-sessionEnded'])).toBeVisible();
    await expect(entries).toHaveCount(1);
    await openSection(page, 'account-devices-title');
    await expect(entries).toContainText('Firefox, Windows');
    await press(page, texts['account-devices-forget']);
    await expect(page.getByText(texts['account-devices-none'])).toBeVisible();
    await openSection(page, 'account-sign-ins-title');
    await expect(entries.first()).toContainText(texts['account-outcome-signedIn']);
    await expect(entries.first().getByRole('time')).toHaveText(javaScriptEnabled ? /GMT-[45]$/ : /UTC$/);

    await portal.mustRun(['user', 'set', username, '--name', 'Zoë Nowak', '--group', 'acme:hr']);
    await page.goto('/portal/account');
    await expect(heading(page)).toHaveText(`${texts['account-title']}: Zoë Nowak`);
    await expect(page.getByText(`${username} · ${email}`)).toBeVisible();
    await expect(page.getByText(`${texts['signed-in-groups']}: acme:hr`)).toBeVisible();
    await page.getByLabel(texts['account-language-label']).selectOption('pl');
    await press(page, texts['account-language-button']);
    await expect(page.getByText(textsOf('pl')['account-notice-languageChosen'])).toBeVisible();
    await expect(page.locator('html')).toHaveAttribute('lang', 'pl');
  },
);

test(
  'the app is set up after a fresh proof and replaced, its recovery codes are made anew, and it is removed',
  both,
  async ({ page, portal, newPerson, javaScriptEnabled }) => {
    const { username } = await newPerson();
    await signIn(page, username, password);
    await signInIsOld(portal, username);
    await openSection(page, 'account-app-title');
    await press(page, texts['account-app-button-set-up']);
    await page.getByLabel(texts['account-password-title']).fill(password);
    await press(page, texts.continue);
    await expect(page.getByText(texts['account-notice-proven'])).toBeVisible();
    await press(page, texts['account-app-button-set-up']);
    await expect(heading(page)).toHaveText(texts['registration-title']);
    const key = await keyToRegister(page);
    await codeForm(page, javaScriptEnabled).send(appCode(key));
    await expect(recoveryCodes(page)).toHaveCount(10);
    await follow(page, texts.continue);

    await follow(page, texts['account-app-button-replace']);
    await expect(page.getByRole('img', { name: texts['registration-qr'] })).toBeVisible();
    const next = await keyToRegister(page);
    expect(next).not.toBe(key);
    await page.getByLabel(texts['account-app-code']).fill(appCode(next));
    await press(page, texts['account-app-button-replace']);
    const codes = await recoveryCodes(page).allInnerTexts();
    expect(codes).toHaveLength(10);
    await follow(page, texts.continue);
    await expect(page.getByText(texts['account-notice-appReplaced'])).toBeVisible();

    await openSection(page, 'account-recovery-codes-title');
    await press(page, texts['account-recovery-codes-button']);
    await expect(recoveryCodes(page)).toHaveCount(10);
    await expect(recoveryCodes(page).filter({ hasText: codes[0] ?? '-' })).toHaveCount(0);

    await openSection(page, 'account-app-title');
    await follow(page, texts['account-app-button-remove']);
    await expect(page.getByText(texts['account-app-remove-text'])).toBeVisible();
    await press(page, texts['account-app-button-remove']);
    await expect(page.getByText(texts['account-notice-appRemoved'])).toBeVisible();
    expect(portal.log).not.toContain(next);
  },
);

test(
  'a session that ends while the page is open: sign in, and go on where it was, with what was typed',
  both,
  async ({ page, portal, newPerson }) => {
    const { username } = await newPerson();
    await signIn(page, username, password);
    await openSection(page, 'account-app-title');
    await sessionsEnd(portal, username);
    await press(page, texts['account-app-button-set-up']);
    await signInForm(page).send(username, password);
    await expect(page).toHaveURL('/portal/account/app?do=setUp');

    await page.goto('/portal/account');
    const chosen = page.getByLabel(texts['account-language-label']);
    await chosen.selectOption('pl');
    await sessionsEnd(portal, username);
    await press(page, texts['account-language-button']);
    await signInForm(page).send(username, password);
    await expect(heading(page)).toContainText(texts['account-title']);
    await expect(chosen).toHaveValue('pl');
  },
);
