import type { Page } from '@playwright/test';
import { appCode } from './authenticator-app.ts';
import { codeForm } from './code-form.ts';
import { expectSignedIn, signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';

const asked = '/portal/portal.html?tab=2&filter=a%26b';

test('a deep link with a query survives a visit to the reset form', async ({ page }) => {
  await page.goto(asked);
  await page.getByRole('link', { name: 'Forgot password?' }).click();
  await expect(page.getByRole('heading', { name: 'Reset your password' })).toBeVisible();
  await page.getByRole('link', { name: 'Return to sign-in' }).click();
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL(asked);
});

test('two tabs keep separate deep links', async ({ page, context, javaScriptEnabled }) => {
  const addresses = javaScriptEnabled
    ? ['/portal/portal.html#/one', '/portal/portal.html#/two']
    : ['/portal/portal.html?one', '/portal/portal.html?two'];
  const tab = await context.newPage();
  await page.goto(addresses[0] as string);
  await tab.goto(addresses[1] as string);
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL(addresses[0] as string);
  await signInForm(tab).send('ada', password);
  await expect(tab).toHaveURL(addresses[1] as string);
});

/** Two tabs that wait at the sign-in form, each with a destination of its own. */
async function twoWaitingTabs(page: Page): Promise<Page> {
  const tab = await page.context().newPage();
  for (const [waiting, place] of [
    [page, '#/one'],
    [tab, '#/two'],
  ] as const) {
    await waiting.goto(`/portal/${place}`);
    await expect(waiting).toHaveURL('/portal/#/login');
  }
  return tab;
}

test('a tab that waited while another signed in goes on to its own deep link', async ({ page }) => {
  const tab = await twoWaitingTabs(page);
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html#/one');
  await tab.reload();
  await expectSignedIn(tab, 'ada');
  await expect(tab).toHaveURL('/portal/portal.html#/two');
  // It has arrived: the same tab does not go there again.
  await tab.goto('/portal/');
  await expectSignedIn(tab, 'ada');
  await expect(tab).toHaveURL('/portal/portal.html');
});

test('a deep link opened while a code is pending shows the code form and arrives after it', async ({
  page,
  context,
  newPersonWithApp,
}) => {
  const { username, key } = await newPersonWithApp();
  await page.goto('/portal/login');
  await signInForm(page).send(username, password);
  await expect(codeForm(page).field).toBeVisible();
  const second = await context.newPage();
  await second.goto('/portal/portal.html?tab=2#/reports/11');
  await expect(second).toHaveURL(/\/portal\/twoFactor\?/);
  await codeForm(second).send(appCode(key));
  await expect(second).toHaveURL('/portal/portal.html?tab=2#/reports/11');
});

for (const place of ['/webbundle/a?q=1', '/hub/app']) {
  test(`a page beside the portal, ${place}, is reached after the second factor`, async ({
    page,
    watch,
    javaScriptEnabled,
    newPersonWithApp,
  }) => {
    watch.expect(/404/);
    const { username, key } = await newPersonWithApp();
    await page.goto(`/portal/login?${new URLSearchParams({ destination: place })}`);
    await signInForm(page).send(username, password);
    await codeForm(page, javaScriptEnabled).send(appCode(key));
    await expect(page).toHaveURL(place);
  });
}

test('a hash that looks like a portal path is still a fragment', async ({ page }) => {
  await page.goto('/portal/#/portal/x');
  await expect(page).toHaveURL('/portal/#/login');
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html#/portal/x');
});
