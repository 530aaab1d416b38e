import type { Page } from '@playwright/test';
import { loadsOnceMore } from './loads-once-more.ts';
import { expectSignedIn, signIn, signInForm, signOutButton } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');
const asked = '/portal/login?destination=%2Fportal%2Fportal.html%3Ftab%3D7';

/** The form is loaded once more, for the person who is there now. */
async function leadsNowhereOfItsOwn(page: Page, username: string): Promise<void> {
  await expect(page).toHaveURL('/portal/login');
  const form = signInForm(page);
  await expect.poll(() => page.evaluate(() => history.state).catch(() => null)).not.toBeNull();
  await expect(form.username).toHaveValue('');
  await form.send(username, password);
  await expectSignedIn(page, username);
  await expect(page).not.toHaveURL(/tab=7/);
}

for (const [where, entriesSince] of [
  ['in the same tab', 4],
  ['in another tab', 1],
] as const)
  test(`SE-15 Back to a form from before another person’s turn, ${where}, leads nowhere of its own`, async ({
    page,
    context,
    newPerson,
  }) => {
    const [first, next] = [await newPerson(), await newPerson()];
    await page.goto(asked);
    await signInForm(page).username.fill(first.username);
    await page.goto('/portal/emailInfo');
    const tab = where === 'in the same tab' ? page : await context.newPage();
    await signIn(tab, next.username, password);
    const reloaded = tab === page ? null : loadsOnceMore(page);
    await signOutButton(tab).click();
    await expect(tab.getByRole('heading', { level: 1 })).toHaveText(texts['login-title']);
    await reloaded;
    await page.evaluate((count) => void setTimeout(() => history.go(-count)), entriesSince);
    await leadsNowhereOfItsOwn(page, next.username);
  });

for (const [what, moveOn] of [
  [
    'a screen that the script changed',
    (page: Page) => page.getByRole('link', { name: texts['login-forgotten'] }).click(),
  ],
  ['a fragment', (page: Page) => page.evaluate(() => location.assign('#/forgotten'))],
] as const)
  test(`SE-15 nor does Back over ${what}, within one document`, async ({ page, context, newPerson }) => {
    const [first, next] = [await newPerson(), await newPerson()];
    await page.goto(asked);
    await signInForm(page).username.fill(first.username);
    await moveOn(page);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(texts['forgotten-title']);
    const tab = await context.newPage();
    await signIn(tab, next.username, password);
    const reloaded = loadsOnceMore(page);
    await signOutButton(tab).click();
    await expect(tab.getByRole('heading', { level: 1 })).toHaveText(texts['login-title']);
    await reloaded;
    await page.evaluate(() => void setTimeout(() => history.back()));
    await leadsNowhereOfItsOwn(page, next.username);
  });
