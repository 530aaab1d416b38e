import type { OpenIdProvider } from '../providers/openid-provider-for-test.ts';
import {
  atProvider,
  codeForm,
  expectFailure,
  expectSignedIn,
  heading,
  signInForm,
  signOutButton,
  ssoButton,
  ssoForm,
} from './forms.ts';
import { startOpenIdProviderOf } from './providers-of-portal.ts';
import { test as base, both, expect } from './test.ts';
import { texts } from './texts.ts';

/** One provider and one customer for the whole file, at another site than the portal. */
const test = base.extend<{ provider: OpenIdProvider }>({
  provider: async ({ oncePerWorker, portal }, use) => await use(await oncePerWorker.get(startOpenIdProviderOf, portal)),
});

// Both workers would need a provider otherwise.
test.describe.configure({ mode: 'default' });

test.beforeEach(({ watch, provider }) => watch.host(provider.issuer));

test(
  'OI-23 through a provider: cancelled, then signed in to the page asked for; the next time without typing, but once after a sign-out',
  both,
  async ({ page, portal, javaScriptEnabled }) => {
    const asked = `/portal/portal.html?report=7${javaScriptEnabled ? '#/reports/7' : ''}`;
    await page.goto(asked);
    await signInForm(page).fill('olga@oidc.test', 'typed by habit');
    const posted = page.waitForRequest('**/checkSsoLogin');
    await ssoButton(page).click();
    expect((await posted).postData()?.includes('habit')).toBe(!javaScriptEnabled);
    await expect(ssoForm(page).email).toHaveValue('olga@oidc.test');
    expect(page.url()).not.toContain('olga');
    await ssoForm(page).button.click();
    await expect(atProvider(page).email).toHaveValue('olga@oidc.test');
    await page.goBack();
    await ssoForm(page).send('olga@oidc.test');
    await atProvider(page).cancel();
    const reference = await expectFailure(page);
    await expect(heading(page)).toHaveText(texts['notice-signInCancelled-title']);
    expect((await portal.run(['explain', reference])).out).toContain('access_denied (End-User aborted interaction)');
    await page.getByRole('link', { name: 'Return to sign-in' }).click();
    await ssoButton(page).click();
    await ssoForm(page).send('olga@oidc.test');
    await atProvider(page).signIn();
    await expect(page).toHaveURL(asked);
    await expectSignedIn(page, 'olga');

    await page.context().clearCookies({ name: 'vestibule-session' });
    await page.goto('/portal/login');
    await ssoButton(page).click();
    await expectSignedIn(page, 'olga');
    await signOutButton(page).click();
    await expect(page).toHaveURL(/\/session\/end/);
    // Whoever comes next is asked who they are, once.
    await page.goto('/portal/login');
    await ssoButton(page).click();
    await atProvider(page).email.fill('olga@oidc.test');
    await atProvider(page).signIn();
    await expectSignedIn(page, 'olga');
    await page.context().clearCookies({ name: 'vestibule-session' });
    await page.goto('/portal/login');
    await ssoButton(page).click();
    await expectSignedIn(page, 'olga');
  },
);

test('two tabs at the provider return side by side, each to its own destination', both, async ({ page }) => {
  const other = await page.context().newPage();
  for (const [tab, report] of [
    [page, 1],
    [other, 2],
  ] as const) {
    await tab.goto(`/portal/singleSignOn?destination=%2Fportal%2Fportal.html%3Freport%3D${report}`);
    await ssoForm(tab).send('olga@oidc.test');
    await expect(atProvider(tab).email).toBeVisible();
  }
  await atProvider(page).signIn();
  await expect(page).toHaveURL('/portal/portal.html?report=1');
  await atProvider(other).signIn();
  await expect(other).toHaveURL('/portal/portal.html?report=2');
  await expectSignedIn(other, 'olga');
});

test(
  'nobody gets in whom the portal does not know, nor by a domain that nobody vouches for',
  both,
  async ({ page }) => {
    for (const email of ['stranger@oidc.test', 'olga@nowhere.test']) {
      await page.goto('/portal/singleSignOn');
      await ssoForm(page).send(email);
      if (email.startsWith('stranger')) await atProvider(page).signIn();
      await expectFailure(page);
    }
  },
);

test(
  'a domain that requires it leads its users there from the sign-in form, and then to the second factor',
  both,
  async ({ page, portal, inbox, javaScriptEnabled }) => {
    await portal.mustRun(['connection', 'set', 'oidc', '--required', 'on']);
    await portal.mustRun(['customer', 'set', 'oidc', '--two-factor', 'email']);
    try {
      await page.goto('/portal/login');
      await signInForm(page).send('olga@oidc.test', 'whatever');
      await expect(page.getByText('Your company uses single sign‑on')).toBeVisible();
      await expect(ssoForm(page).email).toHaveValue('olga@oidc.test');
      await ssoForm(page).button.click();
      await atProvider(page).signIn();
      const { code } = await inbox.take('olga@oidc.test', 'signInCode');
      await codeForm(page, javaScriptEnabled).send(code);
      await expectSignedIn(page, 'olga');
    } finally {
      await portal.mustRun(['customer', 'set', 'oidc', '--two-factor', 'off']);
      await portal.mustRun(['connection', 'set', 'oidc', '--required', 'off']);
    }
  },
);

test('OI-01 an answer that an altered link sends in the fragment leaves the address at once', async ({ page }) => {
  await page.goto('/portal/authenticate/oidc/callback/oidc#code=of-a-victim&state=of-an-attacker');
  await expectFailure(page);
  expect(page.url()).not.toContain('of-a');
});

test('signing out at the provider ends the session here as well', async ({ page, provider, portal }) => {
  await page.goto('/portal/login');
  await ssoButton(page).click();
  await ssoForm(page).send('olga@oidc.test');
  await atProvider(page).signIn();
  await expectSignedIn(page, 'olga');
  await page.goto(`${provider.issuer}/session/end`);
  await page.getByRole('button', { name: /yes/i }).click();
  await expect.poll(async () => (await portal.eventsOf('olga', 'signed-out-by-provider')).length).toBeGreaterThan(0);
  await page.goto('/portal/portal.html');
  await expect(ssoButton(page)).toBeVisible();
});
