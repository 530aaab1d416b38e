import type { Page } from '@playwright/test';
import type { SamlProviderForTest } from '../providers/saml-provider-for-test.ts';
import { startSamlProviderOf } from './saml-provider-of-portal.ts';
import { expectSignedIn, signOutButton } from './sign-in-form.ts';
import { atProvider, expectFailure, pressOn, ssoButton, ssoForm } from './single-sign-on-form.ts';
import { test as base, expect } from './test.ts';
import { textsOf } from './texts.ts';

/** SimpleSAMLphp and one customer for the whole file, at another site than the portal. */
const test = base.extend<{ provider: SamlProviderForTest }>({
  provider: [
    async ({ oncePerWorker, portal }, use) => await use(await oncePerWorker.get(startSamlProviderOf, portal)),
    { timeout: 180_000 },
  ],
});

// Both workers would need a provider otherwise.
test.describe.configure({ mode: 'default' });

const both = { tag: '@without-script' };

test.beforeEach(async ({ watch, provider }) => {
  watch.host(provider.origin);
  await provider.set({});
});

async function signInAtProvider(page: Page, email = 'sam@saml.test'): Promise<void> {
  await atProvider(page).email.fill(email);
  await atProvider(page).signIn();
  await pressOn(page);
}

test('signs in from the sign-in page over the provider, and the second time without typing', both, async ({ page }) => {
  await page.goto('/portal/login');
  await ssoButton(page).click();
  await ssoForm(page).send('sam@saml.test');
  await signInAtProvider(page);
  await expect(page).toHaveURL('/portal/portal.html');
  await expectSignedIn(page, 'sam');
  await page.context().clearCookies({ name: 'vestibule-session' });
  await page.goto('/portal/login');
  await ssoButton(page).click();
  await pressOn(page);
  await expectSignedIn(page, 'sam');
});

test(
  'SA-26 a visit begun by the provider is refused, and let in once the operator allows it',
  both,
  async ({ page, portal, provider }) => {
    const entityId = `${portal.origin}/portal/authenticate/saml/metadata`;
    await page.goto(provider.beginUrl(entityId));
    await signInAtProvider(page);
    await expectFailure(page, 'saml');
    await portal.mustRun(['connection', 'set', 'saml', '--idp-initiated', 'on']);
    try {
      await page.goto(provider.beginUrl(entityId));
      await pressOn(page);
      await pressOn(page);
      await expectSignedIn(page, 'sam');
    } finally {
      await portal.mustRun(['connection', 'set', 'saml', '--idp-initiated', 'off']);
    }
  },
);

test('signing out here signs out there', both, async ({ page }) => {
  await page.goto('/portal/login');
  await ssoButton(page).click();
  await ssoForm(page).send('sam@saml.test');
  await signInAtProvider(page);
  await expectSignedIn(page, 'sam');
  await signOutButton(page).click();
  await expect(page).toHaveURL('/portal/login');
  await ssoButton(page).click();
  await expect(atProvider(page).email).toBeVisible();
});

test('signing out there signs out here', both, async ({ page, provider }) => {
  await page.goto('/portal/login');
  await ssoButton(page).click();
  await ssoForm(page).send('sam@saml.test');
  await signInAtProvider(page);
  await expectSignedIn(page, 'sam');
  await page.goto(provider.signOutUrl);
  await expect(page.getByRole('heading', { name: 'Signed out' })).toBeVisible();
  await page.goto('/portal/portal.html');
  await expect(ssoButton(page)).toBeVisible();
});

test(
  'SA-42 if one person begins and another brings the answer, neither is signed in',
  both,
  async ({ page: attacker, anotherBrowser, provider }) => {
    const { page: victim, context } = await anotherBrowser();
    await victim.goto('/portal/singleSignOn');
    await ssoForm(victim).send('sam@saml.test');
    await signInAtProvider(victim);
    await expectSignedIn(victim, 'sam');
    for (const isSignedInHere of [true, false]) {
      if (!isSignedInHere) await context.clearCookies({ name: 'vestibule-session' });
      const link = await linkOfVisit(attacker, provider);
      await victim.goto(link);
      await pressOn(victim);
      // Whoever is signed in is led on, as themselves.
      if (isSignedInHere) await expectSignedIn(victim, 'sam');
      else await expectFailure(victim, 'saml');
      await attacker.goto('/portal/portal.html');
      await expect(attacker).not.toHaveURL('/portal/portal.html');
      await victim.goto('/portal/login');
      if (isSignedInHere) await expectSignedIn(victim, 'sam');
    }
    // The victim's own way in still works, without typing.
    await ssoButton(victim).click();
    await pressOn(victim);
    await expectSignedIn(victim, 'sam');
  },
);

test(
  'SA-42 a browser that has lost its cookies at the provider gets one page, which says so, and no loop',
  both,
  async ({ page }) => {
    await page.goto('/portal/singleSignOn');
    await ssoForm(page).send('sam@saml.test');
    await expect(atProvider(page).email).toBeVisible();
    await page.context().clearCookies({ name: /^vestibule-/ });
    const posts: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') posts.push(new URL(request.url()).pathname);
    });
    await signInAtProvider(page);
    await expect(page.getByText(textsOf('en')['notice-cookiesNeeded-text'])).toBeVisible();
    expect(posts.filter((path) => path.startsWith('/portal/'))).toEqual([
      '/portal/authenticate/saml/acs',
      '/portal/authenticate/saml/finish',
    ]);
  },
);

test('SA-42 the pages that an answer goes through stand in no history', async ({ page }) => {
  await page.goto('/portal/login');
  await ssoButton(page).click();
  await ssoForm(page).send('sam@saml.test');
  await signInAtProvider(page);
  await expectSignedIn(page, 'sam');
  await page.goBack();
  await expect(page).not.toHaveURL(/authenticate\/saml/);
});

/** The provider's link of a visit, unvisited: it is for another person to follow. */
async function linkOfVisit(page: Page, provider: SamlProviderForTest): Promise<string> {
  await page.goto('/portal/singleSignOn');
  await ssoForm(page).email.fill('anybody@saml.test');
  const asked = page.waitForRequest((request) => request.url().startsWith(provider.signOnUrl));
  await ssoForm(page).button.click();
  return (await asked).url();
}
