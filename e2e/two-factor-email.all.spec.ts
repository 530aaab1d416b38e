import type { Page } from '@playwright/test';
import { codeForm } from './code-form.ts';
import type { MailInbox } from './mail-inbox.ts';
import { expectSignedIn, signInForm, signOutButton } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';
import { codeMailWaits, sendWaitIsOver } from './time-passed.ts';

const both = { tag: '@without-script' };
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

/** Six digits that are not this code. */
const otherThan = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

test(
  'an emailed code: one email, however often it is reloaded, at the first sign-in and at the next',
  both,
  async ({ page, portal, inbox, newPerson, javaScriptEnabled }) => {
    const person = await newPerson(mailed);
    const { username, email } = person;
    const place = asked + (javaScriptEnabled ? '#/reports/7' : '');
    const form = codeForm(page, javaScriptEnabled);
    await page.goto(place);
    await signInForm(page).send(username, password);
    await expect(page.getByText(texts['registration-email-text'])).toBeVisible();
    const letter = await inbox.take(email, 'signInCode');
    expect(letter.text.trimEnd().split('\n').at(-1)).toMatch(/^@localhost #\d{6}$/);
    expect(letter.text).toContain(username);
    expect(letter.text).toContain('127.0.0.1');
    expect(letter.subject).not.toContain(letter.code);
    expect(letter.link).toBe('');

    await page.reload();
    await page.goBack();
    await expect(heading(page)).toHaveText('Sign in');
    await page.goForward();
    await form.sendWrong(otherThan(letter.code), texts['twofa-email-wrong']);
    await page.reload();
    await form.send(letter.code);
    await expect(page).toHaveURL(place);
    await expectSignedIn(page, username);

    await signOutButton(page).click();
    await expect(page).toHaveURL('/portal/login');
    await page.goto(place);
    const second = await givePassword(page, inbox, person);
    expect(second).not.toBe(letter.code);
    await expect(page.getByText(texts['twofa-email-text'])).toBeVisible();
    await form.send(second);
    await expect(page).toHaveURL(place);
    await expectSignedIn(page, username);
    // One for each sign-in: the second has arrived, so none is still on its way.
    expect(inbox.count(email, 'signInCode')).toBe(2);
    expect(portal.log).not.toContain(second);
  },
);

test(
  'a new code is sent after a wait, and the previous one stops working',
  both,
  async ({ page, portal, inbox, newPerson, javaScriptEnabled }) => {
    const person = await newPerson(mailed);
    const { username, email } = person;
    await page.goto(asked);
    const first = await givePassword(page, inbox, person);
    const form = codeForm(page, javaScriptEnabled);
    if (javaScriptEnabled) {
      const wait = page.getByRole('button', { name: /^Send again in \d+\sseconds?$/ });
      await expect(wait).toBeDisabled();
      const seconds = async () => Number((await wait.innerText()).match(/\d+/)?.[0]);
      const before = await seconds();
      expect(before).toBeLessThanOrEqual(30);
      await expect.poll(seconds).toBeLessThan(before);
    } else {
      await sendButton(page).click();
      await expect(page.getByText(texts['notice-codeTooSoon-title'])).toBeVisible();
    }

    await sendWaitIsOver(portal, username);
    await page.reload();
    await sendButton(page).click();
    await expect(page.getByText(`${texts['notice-codeSent-title']}.`, { exact: true })).toBeVisible();
    if (javaScriptEnabled)
      await expect(page.getByRole('button', { name: /^Send again in (?:30|29)\sseconds$/ })).toBeDisabled();
    const { code } = await inbox.take(email, 'signInCode');
    await form.sendWrong(first, texts['twofa-email-wrong']);
    await form.send(code);
    await expect(page).toHaveURL(asked);
    await expectSignedIn(page, username);
    expect(inbox.count(email, 'signInCode')).toBe(2);
  },
);

test(
  'four emails are sent for one sign-in; then the only way on is to sign in again',
  both,
  async ({ page, portal, inbox, newPerson }) => {
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
  },
);

test(
  'an account that got too many codes is told that none was sent and for how long, and then gets one',
  both,
  async ({ page, portal, watch, inbox, newPerson, javaScriptEnabled }) => {
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
  },
);

test(
  'a code of one browser does not work in another',
  both,
  async ({ page, inbox, newPerson, anotherBrowser, javaScriptEnabled }) => {
    const person = await newPerson(mailed);
    const { page: other } = await anotherBrowser();
    await page.goto('/portal/login');
    const code = await givePassword(page, inbox, person);
    await other.goto('/portal/login');
    const otherCode = await givePassword(other, inbox, person);
    await codeForm(other, javaScriptEnabled).sendWrong(code, texts['twofa-email-wrong']);
    await codeForm(other, javaScriptEnabled).send(otherCode);
    await expectSignedIn(other, person.username);
  },
);

test(
  'in German: the page, the email and the message for a wrong code',
  both,
  async ({ inbox, newPerson, anotherBrowser, javaScriptEnabled }) => {
    const german = textsOf('de');
    const { username, email } = await newPerson({ ...mailed, language: 'de' });
    const { page } = await anotherBrowser({ locale: 'de-AT' });
    await page.goto('/portal/login');
    await page.getByLabel(german['login-username']).fill(username);
    await page.locator('#password').fill(password);
    await page.getByRole('button', { name: german['login-button'], exact: true }).click();
    await expect(heading(page)).toHaveText(german['registration-email-title']);
    const { text, html, code } = await inbox.take(email, 'signInCode', 'de');
    expect(text).toContain(german['mail-signInCode-text'].replace('{hub}', 'Vestibule'));
    expect(text).toContain('10\u00a0Minuten');
    expect(html).toMatch(/<html lang="de"/);
    const form = codeForm(page, javaScriptEnabled, 'de');
    await form.sendWrong(otherThan(code), german['twofa-email-wrong']);
    await form.send(code);
    await expect(page).toHaveURL('/portal/portal.html');
    await expect(page.getByText(username, { exact: true })).toBeVisible();
  },
);

test('SE-15 a sign-out before the code of a second sign-in leaves nothing to the next person', async ({
  page,
  context,
  inbox,
  newPerson,
}) => {
  const person = await newPerson(mailed);
  await page.goto('/portal/login#/reports/of-this-person');
  const saved = () => page.evaluate(() => JSON.stringify({ ...sessionStorage }));
  await expect.poll(saved).toContain('of-this-person');
  const other = await context.newPage();
  await other.goto('/portal/login');
  await codeForm(other).send(await givePassword(other, inbox, person));
  await expectSignedIn(other, person.username);
  await givePassword(page, inbox, person);
  await signOutButton(other).click();
  await expect(signInForm(other).username).toHaveValue('');
  // The page of the code, whose address has the destination, leads to the form by itself.
  await signInForm(page).send('bob', password);
  await expect(page).toHaveURL(/portal\.html$/);
  await expectSignedIn(page, 'bob');
});
