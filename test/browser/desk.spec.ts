import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { appCode } from '../support/authenticator-app.ts';
import { runsAll } from '../support/runs-all.ts';
import { axeScript, expectAccessible } from './accessibility-faults.ts';
import { codeForm, expectSignedIn, heading, signIn, signInForm, tabTo } from './forms.ts';
import type { App } from './plain-browser.ts';
import { addCustomerTo } from './portal-accounts.ts';
import { signInIsOld } from './portal-database.ts';
import { both, expect, password, test } from './test.ts';
import { texts } from './texts.ts';

/** Signs in with a code and comes to a page of the desk. */
async function comeToDesk(page: Page, { username, key }: { username: string } & App, path: string): Promise<void> {
  const isScripted = test.info().project.use.javaScriptEnabled !== false;
  if (isScripted) await page.addInitScript({ path: axeScript });
  await page.goto(`/portal/login?destination=${encodeURIComponent(`/portal/desk${path}`)}`);
  await signInForm(page).send(username, password);
  await codeForm(page, isScripted).send(appCode(key));
  await expect(page).toHaveURL(`/portal/desk${path}`);
}

/** On every run of `npm run test:all`: axe finds nothing by day and by night, on a phone and a desk, and nothing needs 321 pixels. */
async function isForEveryone(page: Page): Promise<void> {
  if (!runsAll || test.info().project.use.javaScriptEnabled === false) return;
  for (const width of [320, 390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await expectAccessible(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), page.url()).toBeLessThanOrEqual(width);
  }
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const alert = (page: Page) => page.locator('main > .alert');

test(
  'support takes a reference from a failed sign-in to its reason and lifts the wait, by the keyboard alone',
  both,
  async ({ page, portal, watch, newPerson, newPersonWithApp, anotherBrowser, javaScriptEnabled }) => {
    watch.expect(/status of 4(?:04|29)/);
    const { username } = await newPerson();
    const visitor = (await anotherBrowser({ javaScriptEnabled })).page;
    for (let wrong = 1; wrong <= 6; wrong += 1) {
      await visitor.goto('/portal/login');
      await signInForm(visitor).send(username, `not-the-password-${wrong}`);
      await expect(visitor.locator('.reference')).toBeVisible();
    }
    const reference = (await visitor.getByText(/^[A-Z0-9]{4}-[A-Z0-9]{4}$/).textContent()) as string;

    const support = await newPersonWithApp();
    await portal.mustRun(['user', 'set', support.username, '--role', 'support']);
    await comeToDesk(page, support, '');
    await tabTo(page, page.getByRole('searchbox'), 3);
    await page.keyboard.type(reference.toLowerCase().replace('-', ''));
    // With a script, what is found is there without it.
    if (!javaScriptEnabled) await page.keyboard.press('Enter');
    const found = page.getByRole('main').getByRole('link', { name: reference });
    await expect(found).toBeVisible();
    await isForEveryone(page);
    await tabTo(page, found, 9);
    await page.keyboard.press('Enter');
    await expect(page.locator('.verdict')).toHaveText(texts['desk-why-throttled-account']);
    await isForEveryone(page);
    await tabTo(page, button(page, texts['desk-act-liftWait']), 8);
    await page.keyboard.press('Enter');
    await expect(alert(page)).toContainText(texts['event-user-unlocked']);
    await expect(heading(page)).toHaveText(username);

    await signIn(visitor, username, password);
    await expectSignedIn(visitor, username);
    expect((await visitor.goto('/portal/desk'))?.status()).toBe(404);
  },
);

test(
  'an administrator invites, fences a network after its rehearsal, and sees a secret that ends soon',
  both,
  async ({ page, portal, inbox, newPersonWithApp }) => {
    const key = `isle-${randomUUID().slice(0, 8)}`;
    await addCustomerTo(portal, key, { name: 'Isle Ferries', twoFactor: 'app' });
    const soon = new Date(Date.now() + 12 * 86_400_000).toISOString().slice(0, 10);
    await portal.mustRun(
      [
        ...['connection', 'add', 'oidc', key, '--customer', key, '--domain', `${key}.test`, '--secret-ends', soon],
        ...['--issuer', 'https://isle.example', '--client-id', 'vestibule', '--client-secret-stdin'],
      ],
      'a-secret-of-the-provider',
    );
    const administrator = await newPersonWithApp({ customers: [key] });
    await portal.mustRun(['user', 'set', administrator.username, '--administer', key]);
    await comeToDesk(page, administrator, `/customers/${key}`);
    await expect(page.getByText(texts['desk-ends-secret'].split('{')[0] as string)).toBeVisible();

    await page.locator('#invite summary').click();
    await page.locator('#invite').getByLabel(texts['desk-field-email']).fill(`mia@${key}.test`);
    await button(page, texts['desk-do-invite']).click();
    await expect(alert(page)).toContainText(texts['event-invited']);
    await inbox.take(`mia@${key}.test`, 'invitation');
    await expect(page.getByRole('row').filter({ hasText: texts['desk-state-invited'] })).toHaveCount(1);

    const networks = page.getByLabel(texts['desk-field-networks']);
    await networks.fill('203.0.113.0/24');
    await button(page, texts['desk-rehearse']).click();
    await expect(page.getByText(texts['desk-rehearsal-own'])).toBeVisible();
    await isForEveryone(page);
    await networks.fill('127.0.0.0/8');
    await button(page, texts['desk-rehearse-again']).click();
    await expect(page.getByText(/none would have been refused/)).toBeVisible();
    await button(page, texts['desk-do-networks']).click();
    await expect(alert(page)).toContainText(texts['event-customer-changed']);
    await expect(networks).toHaveValue('127.0.0.0/8');
  },
);

test('axe finds nothing on the customers, events, an import, and where a proof is asked for', async ({
  page,
  portal,
  newPersonWithApp,
}) => {
  test.skip(!runsAll);
  const operator = await newPersonWithApp();
  await portal.mustRun(['user', 'set', operator.username, '--role', 'operator']);
  await comeToDesk(page, operator, '/customers');
  await isForEveryone(page);
  for (const path of ['/events', '/customers/acme/import', '?q=nobody']) {
    await page.goto(`/portal/desk${path}`);
    await isForEveryone(page);
  }
  await signInIsOld(portal, operator.username);
  await page.goto('/portal/desk/customers/acme');
  await page.locator('#policies summary').click();
  await isForEveryone(page);
  await button(page, texts['desk-do-policies']).click();
  await expect(page.getByText(texts['account-proof-code'])).toBeVisible();
  await isForEveryone(page);
});
