import type { CDPSession, Page } from '@playwright/test';
import { appCode } from '../support/authenticator-app.ts';
import { codeForm, expectSignedIn, heading, signIn, signInForm, signOutButton } from './forms.ts';
import { appCodeIsPast, signInIsOld } from './portal-database.ts';
import { expect, password, test } from './test.ts';
import { texts } from './texts.ts';

// Passkeys need JavaScript.

/** An authenticator of Chromium's own, which answers as soon as it is asked (Web Authentication Level 3, §11). */
class VirtualAuthenticator {
  readonly #session: CDPSession;
  readonly #id: string;

  private constructor(session: CDPSession, id: string) {
    this.#session = session;
    this.#id = id;
  }

  /** Built into the device, keeps passkeys, knows its person, and is touched as soon as it asks. */
  static async addTo(page: Page): Promise<VirtualAuthenticator> {
    const session = await page.context().newCDPSession(page);
    await session.send('WebAuthn.enable', { enableUI: false });
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        ctap2Version: 'ctap2_1',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return new VirtualAuthenticator(session, authenticatorId);
  }

  async passkeys() {
    return (await this.#session.send('WebAuthn.getCredentials', { authenticatorId: this.#id })).credentials;
  }

  /** Whether it knows who is there; if not, every request ends as one that the person cancels. */
  async recognises(isUserVerified: boolean): Promise<void> {
    await this.#session.send('WebAuthn.setUserVerified', { authenticatorId: this.#id, isUserVerified });
  }
}

/** Keeps the field from offering passkeys, which an authenticator that answers at once would take before any press. */
const withoutOffer = (page: Page) =>
  page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = async () => false;
  });

const passkeyButton = (page: Page) => page.getByRole('button', { name: texts['login-passkey'] });

/** Adds a passkey on the account page of somebody who has just signed in. */
async function addPasskey(page: Page): Promise<void> {
  await page.goto('/portal/account/passkeys');
  await page.getByRole('button', { name: texts['account-passkeys-add'] }).click();
  await expect(page.getByText(texts['account-notice-passkeyAdded'])).toBeVisible();
}

const asked = '/portal/portal.html?tab=2#/reports/7';

async function signOut(page: Page): Promise<void> {
  await page.goto('/portal/portal.html');
  await signOutButton(page).click();
  await expect(signInForm(page).button).toBeVisible();
}

test('a passkey is added, signs in to the page asked for and once more for a change, is renamed and removed', async ({
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
  await page.getByRole('button', { name: texts['account-sign-in-again'] }).click();
  await passkeyButton(page).click();
  await page.getByRole('button', { name: texts['account-passkeys-remove'], exact: true }).click();
  await expect(page.getByText(texts['account-notice-passkeyRemoved'])).toBeVisible();
  await inbox.take(email, 'passkeyRemoved');
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

test('one that an operator has removed is refused', async ({ page, context, newPerson, portal }) => {
  const { username } = await newPerson();
  await withoutOffer(page);
  await VirtualAuthenticator.addTo(page);
  await signIn(page, username, password);
  await addPasskey(page);
  const [{ id }] = JSON.parse(await portal.mustRun(['user', 'passkeys', username, '--json'])) as [{ id: string }];
  await portal.mustRun(['user', 'passkeys', username, '--remove', id, '--yes']);
  await context.clearCookies();
  await page.goto('/portal/login');
  await passkeyButton(page).click();
  await expect(heading(page)).toHaveText(texts['login-fail-passkey-title']);
});
