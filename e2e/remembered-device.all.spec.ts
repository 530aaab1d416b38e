import type { Page } from '@playwright/test';
import { appCode } from './authenticator-app.ts';
import { codeForm } from './code-form.ts';
import { addCustomerTo } from './portal-accounts.ts';
import { changeForm, linkFor, newPassword } from './reset-forms.ts';
import { expectSignedIn, signInForm, signOutButton } from './sign-in-form.ts';
import { expect, type Person, password, test } from './test.ts';
import { appCodeIsPast } from './time-passed.ts';

const both = { tag: '@without-script' };
const heading = (page: Page) => page.getByRole('heading', { level: 1 });

/** Enters the password; expects the code to be asked for. */
async function expectAsked(page: Page, { username }: Person, secret = password): Promise<void> {
  await page.goto('/portal/login');
  await signInForm(page).send(username, secret);
  await expect(heading(page)).toHaveText('Enter your code');
}

/** Enters the password; expects that to be enough. */
async function expectNotAsked(page: Page, { username }: Person): Promise<void> {
  await page.goto('/portal/login');
  await signInForm(page).send(username, password);
  await expectSignedIn(page, username);
  await signOut(page);
}

async function signOut(page: Page): Promise<void> {
  await signOutButton(page).click();
  await expect(page).toHaveURL('/portal/login');
}

/** Signs in with a code, has the browser remembered, and signs out. */
async function remember(page: Page, person: Person & { key: string }, isScripted: boolean | undefined): Promise<void> {
  await expectAsked(page, person);
  const form = codeForm(page, isScripted);
  await form.remember.check();
  await form.send(appCode(person.key));
  await expectSignedIn(page, person.username);
  await signOut(page);
}

test(
  'after ticking the box users are not asked again in this browser, but in another',
  both,
  async ({ page, portal, newPersonWithApp, anotherBrowser, javaScriptEnabled }) => {
    const person = await newPersonWithApp();
    await expectAsked(page, person);
    const form = codeForm(page, javaScriptEnabled);
    await expect(form.remember).not.toBeChecked();
    await form.send(appCode(person.key));
    await expectSignedIn(page, person.username);
    await signOut(page);

    await appCodeIsPast(portal, person.username);
    await remember(page, person, javaScriptEnabled);
    // The record changes at each use, and is still valid.
    await expectNotAsked(page, person);
    await expectNotAsked(page, person);
    const { page: other } = await anotherBrowser();
    await expectAsked(other, person);

    expect(await portal.mustRun(['user', 'devices', person.username])).toContain('127.0.0.1');
    await portal.mustRun(['user', 'devices', person.username, '--revoke-all']);
    await expectAsked(page, person);
    await page.reload();
    await expect(codeForm(page, javaScriptEnabled).remember).not.toBeChecked();
  },
);

test(
  'a new password ends it',
  both,
  async ({ page, portal, inbox, newPersonWithApp, anotherBrowser, javaScriptEnabled }) => {
    const person = await newPersonWithApp();
    await remember(page, person, javaScriptEnabled);
    const { page: other } = await anotherBrowser();
    await other.goto(await linkFor({ portal, inbox }, person.email));
    await changeForm(other).send(newPassword);
    await expect(heading(other)).toHaveText('Password changed');
    await expectAsked(page, person, newPassword);
  },
);

test(
  'if a customer forbids it, its users are asked every time, from then on',
  both,
  async ({ page, portal, newPersonWithApp, javaScriptEnabled }) => {
    const customer = `vault${javaScriptEnabled ? '' : '-plain'}`;
    await addCustomerTo(portal, customer, { twoFactor: 'app' });
    const person = await newPersonWithApp({ customers: [customer] });
    await remember(page, person, javaScriptEnabled);
    await portal.mustRun(['customer', 'set', customer, '--remember-devices', 'off']);
    await expectAsked(page, person);
    const form = codeForm(page, javaScriptEnabled);
    await expect(form.field).toBeVisible();
    await expect(form.remember).toHaveCount(0);
  },
);
