import type { Page } from '@playwright/test';
import { holdRequests } from './held-requests.ts';
import { changeForm, hashOf, linkFor, newPassword } from './reset-forms.ts';
import { signIn, signInForm, signOutButton } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';

const both = { tag: '@without-script' };
const heading = (page: Page) => page.getByRole('heading', { level: 1 });

/** The page has reported a link in the old form to the server. */
const linkReported = (page: Page) => page.waitForResponse((response) => response.request().method() === 'HEAD');

test(
  'SE-15: the next person finds the link in the history, and it opens nothing',
  both,
  async ({ page, portal, inbox, newPerson, anotherBrowser }) => {
    const { username, email } = await newPerson();
    const link = await linkFor({ portal, inbox }, email);
    await page.goto(link);
    await page.goto(link);
    await expect(changeForm(page).hash).toHaveValue(hashOf(link));
    await signIn(page, username, password);
    await signOutButton(page).click();
    await expect(heading(page)).toHaveText('Sign in');
    const { page: elsewhere } = await anotherBrowser();
    for (const next of [page, elsewhere]) {
      await next.goto(link);
      await expect(heading(next)).toHaveText('Password not changed');
    }
    expect(await portal.signInPlainly(username, password)).not.toBeNull();
  },
);

test('SE-15: so does a link in the old form, whose token only the browser sees', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const { username, email } = await newPerson();
  const link = await linkFor({ portal, inbox }, email);
  const reported = linkReported(page);
  await page.goto(`/portal/#/forgottenChange?hash=${hashOf(link)}`);
  await expect(changeForm(page).hash).toHaveValue(hashOf(link));
  await reported;
  await signIn(page, username, password);
  await page.goto(link);
  await expect(heading(page)).toHaveText('Password not changed');
});

test('SE-15: so does one in the old form that is entered in an open page', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const { username, email } = await newPerson();
  const link = await linkFor({ portal, inbox }, email);
  await page.goto('/portal/login');
  await expect(heading(page)).toHaveText('Sign in');
  const reported = linkReported(page);
  await page.goto(`/portal/login#/forgottenChange?hash=${hashOf(link)}`);
  await expect(changeForm(page).hash).toHaveValue(hashOf(link));
  await reported;
  await signIn(page, username, password);
  await page.goto(link);
  await expect(heading(page)).toHaveText('Password not changed');
});

for (const where of ['', 'login', 'portal.html', 'twoFactor'])
  test(`SE-15: so does one in the old form at /${where} that is opened while somebody is signed in`, async ({
    page,
    portal,
    inbox,
    newPerson,
  }) => {
    const { username, email } = await newPerson();
    const link = await linkFor({ portal, inbox }, email);
    const oldForm = `/portal/${where}#/forgottenChange?hash=${hashOf(link)}`;
    await signIn(page, username, password);
    await page.goto('about:blank');
    const reported = linkReported(page);
    await page.goto(oldForm);
    await reported;
    expect(page.url()).not.toContain(hashOf(link));
    await signOutButton(page).click();
    await expect(heading(page)).toHaveText('Sign in');
    await page.goto('about:blank');
    await page.goto(link);
    await expect(heading(page)).toHaveText('Password not changed');
    await page.goto(oldForm);
    await changeForm(page).send(newPassword);
    await expect(heading(page)).toHaveText('Password not changed');
  });

test('SE-15: so does one in the old form that is entered in the open page of somebody signed in', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const { username, email } = await newPerson();
  const link = await linkFor({ portal, inbox }, email);
  await signIn(page, username, password);
  await expect(signOutButton(page)).toBeVisible();
  const reported = linkReported(page);
  await page.goto(`/portal/portal.html#/forgottenChange?hash=${hashOf(link)}`);
  await reported;
  expect(page.url()).not.toContain(hashOf(link));
  await expect(page.getByRole('main')).toContainText(username);
  await signOutButton(page).click();
  await expect(heading(page)).toHaveText('Sign in');
  await page.goto(link);
  await expect(heading(page)).toHaveText('Password not changed');
});

test(
  'SE-15: a link that is used where somebody else is signed in leads to the form for its own person',
  both,
  async ({ page, portal, inbox, newPerson }) => {
    const { username, email } = await newPerson();
    await signIn(page, 'bob', password);
    await page.goto(await linkFor({ portal, inbox }, email));
    await changeForm(page).send(newPassword);
    await expect(heading(page)).toHaveText('Password changed');
    await page.getByRole('main').getByRole('link').click();
    await expect(heading(page)).toHaveText('Sign in');
    await signInForm(page).send(username, newPassword);
    await expect(page.getByRole('main')).toContainText(username);
    await expect(page).toHaveURL('/portal/portal.html?lang=en');
  },
);

test('SE-15: so does one in the old form that is entered before the script of the page has come', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const { username, email } = await newPerson();
  const hash = hashOf(await linkFor({ portal, inbox }, email));
  await signIn(page, username, password);
  const letGo = await holdRequests(page, /later-screen/);
  const waits = page.waitForRequest(/later-screen/);
  await page.goto('/portal/portal.html', { waitUntil: 'commit' });
  await waits;
  await page.evaluate((fragment) => location.assign(fragment), `#/forgottenChange?hash=${hash}`);
  const reported = linkReported(page);
  letGo();
  await reported;
  expect(page.url()).not.toContain(hash);
});
