import type { Page } from '@playwright/test';
import { appCode } from './authenticator-app.ts';
import { codeForm } from './code-form.ts';
import { loadsOnceMore } from './loads-once-more.ts';
import { expectSignedIn, signInForm, signOutButton } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';

const both = { tag: '@without-script' };
const asked = '/portal/portal.html?tab=2&filter=a%26b';

async function failOnce(page: Page): Promise<void> {
  await signInForm(page).send('ada', `wrong ${Math.random()}`);
  await expect(page).toHaveURL(/\/loginfail\/default/);
  await page.getByRole('link', { name: 'Return to sign-in' }).click();
  await expect(signInForm(page).username).toHaveValue('ada');
}

test('a deep link with a fragment arrives exactly after sign-in', async ({ page }) => {
  await page.goto('/portal/portal.html#/reports/7');
  await expect(page).toHaveURL('/portal/#/login');
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html#/reports/7');
});

test('a deep link with a fragment survives a failed attempt', async ({ page }) => {
  await page.goto('/portal/portal.html#/reports/7?from=2026&to=ä');
  await failOnce(page);
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL(`/portal/portal.html#/reports/7?from=2026&to=${encodeURIComponent('ä')}`);
});

test('path, query and fragment arrive together', async ({ page }) => {
  await page.goto(`${asked}#/reports/7`);
  await failOnce(page);
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL(`${asked}#/reports/7`);
});

test('a deep link with a query arrives', both, async ({ page }) => {
  await page.goto(asked);
  await expect(page).toHaveURL(/\/portal\/\?destination=/);
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL(asked);
});

test('a deep link with a query survives a failed attempt', both, async ({ page }) => {
  await page.goto(asked);
  await failOnce(page);
  await failOnce(page);
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL(asked);
});

test('a deep link with a query survives a change of language', both, async ({ page, javaScriptEnabled }) => {
  await page.goto(asked);
  await page.getByLabel('Language').selectOption('de');
  if (!javaScriptEnabled) await page.getByRole('button', { name: 'Apply' }).click();
  await expect(page.getByRole('heading', { name: 'Anmelden' })).toBeVisible();
  await page.locator('#username').fill('ada');
  await page.locator('#password').fill(password);
  await page.getByRole('button', { name: 'Anmelden', exact: true }).click();
  await expect(page).toHaveURL(asked);
});

test('a deep link with a query survives a visit to the reset form', both, async ({ page }) => {
  await page.goto(asked);
  await page.getByRole('link', { name: 'Forgot password?' }).click();
  await expect(page.getByRole('heading', { name: 'Reset your password' })).toBeVisible();
  await page.getByRole('link', { name: 'Return to sign-in' }).click();
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL(asked);
});

test('a deep link is consumed by its sign-in', async ({ page }) => {
  await page.goto('/portal/portal.html#/reports/7');
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html#/reports/7');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signInForm(page).send('bob', password);
  await expect(page).toHaveURL('/portal/portal.html');
});

test('two tabs keep separate deep links', both, async ({ page, context, javaScriptEnabled }) => {
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

test('SE-15 a tab that waited does not take the next person to the deep link of the last', async ({ page }) => {
  const tab = await twoWaitingTabs(page);
  await signInForm(page).send('ada', password);
  await expectSignedIn(page, 'ada');
  const reloaded = loadsOnceMore(tab);
  await signOutButton(page).click();
  await reloaded;
  await signInForm(page).send('bob', password);
  await expectSignedIn(page, 'bob');
  await tab.reload();
  await expectSignedIn(tab, 'bob');
  await expect(tab).toHaveURL('/portal/portal.html#/login');
});

test('a tab at the code keeps its deep link when another tab finishes, over a reload', async ({
  page,
  context,
  newPersonWithApp,
}) => {
  const { username, key } = await newPersonWithApp();
  await page.goto('/portal/login');
  await signInForm(page).send(username, password);
  await expect(codeForm(page).field).toBeVisible();
  const tabs = [await context.newPage(), await context.newPage()] as const;
  const place = (tab: Page) => `/portal/portal.html?z=${tabs.indexOf(tab)}#/q`;
  for (const tab of tabs) {
    await tab.goto(place(tab));
    await expect(tab).toHaveURL(/\/portal\/twoFactor\?redirectURL=[^#]*$/);
  }
  await codeForm(page).send(appCode(key));
  await expectSignedIn(page, username);
  await tabs[0].reload();
  // Where the button of the screen leads once this sign-in is over.
  await tabs[1].goto(`/portal/login?${new URLSearchParams({ destination: '/portal/portal.html?z=1' })}`);
  for (const tab of tabs) {
    await expectSignedIn(tab, username);
    await expect(tab).toHaveURL(place(tab));
  }
});

for (const [what, destination] of [
  ['another site', 'https://evil.example/'],
  ['another site without a scheme', '//evil.example/'],
  ['a script', 'javascript:alert(1)'],
  ['a path that starts like ours', '/portalevil/x'],
] as const) {
  test(`sign-in leads to the default, not to ${what}`, both, async ({ page }) => {
    await page.goto(`/portal/login?${new URLSearchParams({ destination })}`);
    await signInForm(page).send('ada', password);
    await expect(page).toHaveURL('/portal/portal.html');
  });
}

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
  test(
    `a page beside the portal, ${place}, is reached after the second factor`,
    both,
    async ({ page, watch, javaScriptEnabled, newPersonWithApp }) => {
      watch.expect(/404/);
      const { username, key } = await newPersonWithApp();
      await page.goto(`/portal/login?${new URLSearchParams({ destination: place })}`);
      await signInForm(page).send(username, password);
      await codeForm(page, javaScriptEnabled).send(appCode(key));
      await expect(page).toHaveURL(place);
    },
  );
}

test('a hash that looks like a portal path is still a fragment', async ({ page }) => {
  await page.goto('/portal/#/portal/x');
  await expect(page).toHaveURL('/portal/#/login');
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html#/portal/x');
});
