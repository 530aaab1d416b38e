import type { Page } from '@playwright/test';
import { type ForgedProvider, startForgedProvider } from '#testing/forged-openid-provider.ts';
import { axeScript, expectAccessible } from './axe.ts';
import { addCustomerTo } from './portal-accounts.ts';
import type { PortalUnderTest } from './portal-under-test.ts';
import { expectSignedIn, signIn } from './sign-in-form.ts';
import { ssoForm } from './single-sign-on-form.ts';
import { test as base, expect, password } from './test.ts';
import { textsOf } from './texts.ts';

/** A provider where Quinn is signed in already, whoever comes. */
const test = base.extend<{ provider: ForgedProvider }>({
  provider: async ({ oncePerWorker, portal }, use) => await use(await oncePerWorker.get(startFor, portal)),
});

async function startFor(portal: PortalUnderTest): Promise<ForgedProvider> {
  const provider = await startForgedProvider({ now: () => new Date() });
  await addCustomerTo(portal, 'quinns', { name: 'Quinns Ltd.' });
  for (const name of ['quinn', longName])
    await portal.mustRun([
      ...['user', 'add', name, '--email', `${name}@quinns.test`, '--customer', 'quinns', '--no-password'],
    ]);
  await portal.mustRun(
    [
      ...['connection', 'add', 'oidc', 'quinns', '--customer', 'quinns', '--domain', 'quinns.test'],
      ...['--issuer', provider.issuer, '--client-id', provider.clientId, '--client-secret-stdin'],
      ...['--provider-network', '127.0.0.0/8'],
    ],
    'a-secret-that-this-provider-does-not-check',
  );
  return provider;
}

const longName = `${'long'.repeat(14)}.name`;
const texts = textsOf('en');
const both = { tag: '@without-script' };

/** The provider answers at once, for the person named. */
async function isAtProvider(page: Page, provider: ForgedProvider, name: string) {
  provider.bend({ claims: (honest) => ({ ...honest, sub: name, email: `${name}@quinns.test`, email_verified: true }) });
  await page.route(`${provider.issuer}/authorize**`, (route) =>
    route.fulfill({ status: 302, headers: { location: provider.visit(route.request().url()).href } }),
  );
}

test.beforeEach(({ watch, provider }) => watch.host(provider.issuer));

test(
  'an answer for somebody else asks, and either button does what it says',
  both,
  async ({ page, provider, newPerson }) => {
    const { username } = await newPerson();
    await isAtProvider(page, provider, 'quinn');
    await signIn(page, username, password);
    await page.goto('/portal/singleSignOn');
    await ssoForm(page).send('quinn@quinns.test');
    await expect(page).toHaveURL(/other-account/);
    await expect(page.getByRole('main')).toContainText('quinn');
    await expect(page.getByRole('main')).toContainText(username);
    await page.getByRole('link', { name: username }).click();
    await expectSignedIn(page, username);
    await page.goBack();
    await expect(page).toHaveURL(/other-account/);
    await page.getByRole('button', { name: 'quinn' }).click();
    await expectSignedIn(page, 'quinn');
  },
);

test('“Return to sign-in” ends the question: Back does not bring its button back', both, async ({ page, provider }) => {
  await isAtProvider(page, provider, 'quinn');
  await page.goto('/portal/singleSignOn');
  await ssoForm(page).send('somebody@quinns.test');
  await expect(page).toHaveURL(/other-account/);
  await page.getByRole('button', { name: texts['return-to-login'] }).click();
  await expect(page).toHaveURL(/\/portal\/login/);
  await page.goBack();
  await expect(page).toHaveURL(/singleSignOn/);
  await expect(page.getByRole('button', { name: 'quinn' })).toHaveCount(0);
});

test(
  'who types another name than that of whoever is signed in here is asked, and signs them out by “Return to sign-in”',
  both,
  async ({ page, provider }) => {
    await isAtProvider(page, provider, 'quinn');
    const send = async (typed: string) => {
      await page.goto('/portal/singleSignOn');
      await ssoForm(page).send(typed);
    };
    await send('quinn@quinns.test');
    await expectSignedIn(page, 'quinn');
    await send('somebody@quinns.test');
    await expect(page).toHaveURL(/other-account/);
    await expect(page.getByRole('button', { name: 'quinn' })).toHaveCount(1);
    await expect(page.getByRole('link', { name: 'quinn' })).toHaveCount(0);
    await page.getByRole('button', { name: texts['return-to-login'] }).click();
    await expect(page).toHaveURL(/\/portal\/login/);
    await page.goto('/portal/portal.html');
    await expect(page).not.toHaveURL(/portal\.html/);
  },
);

test('its button pressed twice is one press', both, async ({ page, provider, newPerson }) => {
  const { username } = await newPerson();
  await isAtProvider(page, provider, 'quinn');
  await signIn(page, username, password);
  await page.goto('/portal/singleSignOn');
  await ssoForm(page).send('quinn@quinns.test');
  await page.getByRole('button', { name: 'quinn' }).dblclick({ noWaitAfter: true });
  await expectSignedIn(page, 'quinn');
  await page.goto('/portal/portal.html');
  await expectSignedIn(page, 'quinn');
});

test('the question fits on a phone and has nothing for axe, with a long name too', async ({
  page,
  provider,
  newPerson,
}) => {
  await page.addInitScript({ path: axeScript });
  await page.setViewportSize({ width: 320, height: 700 });
  const { username } = await newPerson();
  await isAtProvider(page, provider, longName);
  await signIn(page, username, password);
  await page.goto('/portal/singleSignOn');
  await ssoForm(page).send(`${longName}@quinns.test`);
  await expect(page).toHaveURL(/other-account/);
  await expect(page.getByRole('main')).toHaveAttribute('aria-busy', 'false');
  await expectAccessible(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
});
