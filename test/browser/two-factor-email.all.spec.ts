import type { Page } from '@playwright/test';
import { codeForm } from './code-form.ts';
import type { MailInbox } from './mail-inbox.ts';
import { expectSignedIn, signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';
import { codeMailWaits, sendWaitIsOver } from './time-passed.ts';

const texts = textsOf('en');
const heading = (page: Page) => page.getByRole('heading', { level: 1 });
const sendButton = (page: Page) => page.getByRole('button', { name: texts['twofa-send'] });
const asked = '/portal/portal.html?tab=2&filter=a%26b';
const mailed = { customers: ['mails'] };

test.beforeEach(({ watch }) => watch.expect(/Two-factor code not verified: wrong/));

/** Enters the password on the open form; returns the emailed code. */
async function givePassword(page: Page, inbox: MailInbox, { username, email }: { username: string; email: string }) {
  await signInForm(page).send(username, password);
  await expect(heading(page)).toHaveText('Enter the code we emailed');
  return (await inbox.take(email, 'signInCode')).code;
}

test('four emails are sent for one sign-in; then the only way on is to sign in again', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const person = await newPerson(mailed);
  await page.goto(asked);
  await givePassword(page, inbox, person);
  for (let count = 2; count <= 4; count += 1) {
    await sendWaitIsOver(portal, person.username);
    await page.reload();
    await sendButton(page).click();
    await expect(page.getByText(`${texts['notice-codeSent-title']}.`, { exact: true })).toBeVisible();
  }
  await page.reload();
  await expect(page.getByText(texts['twofa-send-over'])).toBeVisible();
  await expect(sendButton(page)).toHaveCount(0);
  await page.getByRole('link', { name: 'Sign in again' }).click();
  await expect(heading(page)).toHaveText('Sign in');
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL(asked);
});

test('an account that got too many codes is told that none was sent and for how long, and then gets one', async ({
  page,
  portal,
  watch,
  inbox,
  newPerson,
  javaScriptEnabled,
}) => {
  watch.expect(/status of 429/);
  const person = await newPerson(mailed);
  await codeMailWaits(portal, person.username, 90);
  await page.goto(asked);
  await signInForm(page).send(person.username, password);
  await expect(heading(page)).toHaveText(texts['twofa-email-none-title']);
  const said = page.getByText(texts['notice-codeNotSent-title']);
  await expect(said).toBeVisible();
  await expect(page.getByText(/You can ask for one in \d\d\sseconds\./)).toBeVisible();
  await expect(page.getByText(texts['registration-email-text'])).toHaveCount(0);
  if (javaScriptEnabled) {
    await expect(page.getByRole('button', { name: /^Send again in \d\d\sseconds$/ })).toBeDisabled();
  } else {
    await sendButton(page).click();
    await expect(said).toBeVisible();
    await expect(page.getByText(texts['notice-codeTooSoon-title'])).toHaveCount(0);
  }
  await codeMailWaits(portal, person.username, 0);
  await page.reload();
  await expect(page.getByText(texts['notice-codeNotSent-now'])).toBeVisible();
  // The account waits again before the page knows it.
  await codeMailWaits(portal, person.username, 90);
  await sendButton(page).click();
  await expect(page.getByText(/You can ask for one in \d\d\sseconds\./).first()).toBeVisible();
  await codeMailWaits(portal, person.username, 0);
  await page.reload();
  await sendButton(page).click();
  await expect(page.getByText(`${texts['notice-codeSent-title']}.`, { exact: true })).toBeVisible();
  await expect(said).toHaveCount(0);
  const { code } = await inbox.take(person.email, 'signInCode');
  await codeForm(page, javaScriptEnabled).send(code);
  await expect(page).toHaveURL(asked);
});

test('a code of one browser does not work in another', async ({
  page,
  inbox,
  newPerson,
  anotherBrowser,
  javaScriptEnabled,
}) => {
  const person = await newPerson(mailed);
  const { page: other } = await anotherBrowser();
  await page.goto('/portal/login');
  const code = await givePassword(page, inbox, person);
  await other.goto('/portal/login');
  const otherCode = await givePassword(other, inbox, person);
  await codeForm(other, javaScriptEnabled).sendWrong(code, texts['twofa-email-wrong']);
  await codeForm(other, javaScriptEnabled).send(otherCode);
  await expectSignedIn(other, person.username);
});
