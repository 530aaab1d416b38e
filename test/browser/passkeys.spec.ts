import type { Page } from '@playwright/test';
import { appCode } from '../support/authenticator-app.ts';
import { codeForm, expectSignedIn, heading, signIn, signInForm, signOutButton } from './forms.ts';
import { appCodeIsPast, signInIsOld } from './portal-database.ts';
import { expect, password, test } from './test.ts';
import { texts } from './texts.ts';
import { addPasskey, passkeyButton, VirtualAuthenticator, withoutOffer } from './virtual-authenticator.ts';

// Passkeys need JavaScript.

const asked = '/portal/portal.html?tab=2#/reports/7';

async function signOut(page: Page): Promise<void> {
  await page.goto('/portal/portal.html');
  await signOutButton(page).click();
  await expect(signInForm(page).button).toBeVisible();
}

test('a passkey is added, signs in to the page asked for, proves who it is, is renamed and removed', async ({
  page,
  portal,
  newPerson,
  inbox,
}) => {
  const { username, email } = await newPerson();
  await withoutOffer(page);
  const authenticator = await VirtualAuthenticator.addTo(page);
  await signIn(page, username, password);
  await addPasskey(page);
  expect(await authenticator.passkeys()).toMatchObject([{ isResidentCredential: true, rpId: 'localhost' }]);
  await inbox.take(email, 'passkeyAdded');
  await signOut(page);
  await page.goto(asked);
  await passkeyButton(page).click();
  await expectSignedIn(page, username);
  await expect(page).toHaveURL(asked);

  await page.goto('/portal/account/passkeys');
  await page.getByRole('link', { name: /^Rename / }).click();
  await page.getByLabel(texts['account-passkeys-name']).fill('My <b>phone</b>');
  await page.getByRole('button', { name: texts['account-passkeys-rename'] }).click();
  await expect(page.getByText(texts['account-notice-passkeyRenamed'])).toBeVisible();
  await signInIsOld(portal, username);
  await page.getByRole('link', { name: 'Remove My <b>phone</b>' }).click();
  const proof = page.getByRole('button', { name: texts['account-proof-passkey'], exact: true });
  await authenticator.recognises(false);
  await proof.click();
  await expect(page.getByText(texts['account-proof-passkey-none'])).toBeVisible();
  await authenticator.recognises(true);
  await proof.click();
  await page.getByRole('button', { name: texts['account-passkeys-remove'], exact: true }).click();
  await expect(page.getByText(texts['account-notice-passkeyRemoved'])).toBeVisible();
  await inbox.take(email, 'passkeyRemoved');
  // The browser has heard of it (signalAllAcceptedCredentials).
  await expect.poll(() => authenticator.passkeys()).toEqual([]);
});

test('the field for the name offers it, and nobody presses anything', async ({ page, context, newPerson }) => {
  const { username } = await newPerson();
  await VirtualAuthenticator.addTo(page);
  await signIn(page, username, password);
  await addPasskey(page);
  await context.clearCookies();
  // The browser offers it, and the authenticator answers.
  await page.goto('/portal/login', { waitUntil: 'commit' });
  await expectSignedIn(page, username);
});

test('in place of a code, after a password; who cancels goes on where they are', async ({
  page,
  portal,
  newPersonWithApp,
}) => {
  const { username, key } = await newPersonWithApp();
  await withoutOffer(page);
  const authenticator = await VirtualAuthenticator.addTo(page);
  await page.goto('/portal/login?destination=%2Fportal%2Faccount%2Fpasskeys');
  await signInForm(page).send(username, password);
  await expect(passkeyButton(page)).toHaveCount(0);
  await codeForm(page).send(appCode(key));
  await expect(heading(page)).toHaveText(texts['account-passkeys-title']);
  await addPasskey(page);
  await signOut(page);

  await authenticator.recognises(false);
  await passkeyButton(page).click();
  await expect(page.getByText(texts['login-passkey-none'])).toBeVisible();
  await expect(passkeyButton(page)).toBeFocused();
  await page.goto(asked);
  await signInForm(page).send(username, password);
  await expect(heading(page)).toHaveText(texts['twofa-title']);
  await passkeyButton(page).click();
  await expect(page.getByText(texts['login-passkey-none'])).toBeVisible();
  await authenticator.recognises(true);
  await passkeyButton(page).click();
  await expectSignedIn(page, username);
  await expect(page).toHaveURL(asked);

  await signOut(page);
  await authenticator.recognises(false);
  await appCodeIsPast(portal, username);
  await signInForm(page).send(username, password);
  await passkeyButton(page).click();
  await expect(page.getByText(texts['login-passkey-none'])).toBeVisible();
  await codeForm(page).send(appCode(key));
  await expectSignedIn(page, username);
});
