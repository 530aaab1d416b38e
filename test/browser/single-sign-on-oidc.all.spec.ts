import type { Page } from '@playwright/test';
import type { OpenIdProvider } from '../providers/openid-provider-for-test.ts';
import { startOpenIdProviderOf } from './openid-provider-of-portal.ts';
import { expectSignedIn } from './sign-in-form.ts';
import { atProvider, expectFailure, ssoButton, ssoForm } from './single-sign-on-form.ts';
import { test as base, expect } from './test.ts';

/** One provider and one customer for the whole file, at another site than the portal. */
const test = base.extend<{ provider: OpenIdProvider }>({
  provider: async ({ oncePerWorker, portal }, use) => await use(await oncePerWorker.get(startOpenIdProviderOf, portal)),
});

// Both workers would need a provider otherwise.
test.describe.configure({ mode: 'default' });

test.beforeEach(({ watch, provider }) => watch.host(provider.issuer));

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

test('OI-31 a provider that sends its visitor to another connection’s provider gets no code, and signs in nobody', async ({
  page: attacker,
  anotherBrowser,
  portal,
  provider,
}) => {
  await portal.mustRun(['customer', 'add', 'evil']);
  await portal.mustRun(
    [
      ...['connection', 'add', 'oidc', 'evil', '--customer', 'evil', '--domain', 'evil.test'],
      ...['--issuer', provider.issuer, '--client-id', 'evil', '--client-secret-stdin'],
      ...['--provider-network', '127.0.0.0/8'],
    ],
    'secret',
  );
  const { page: victim } = await anotherBrowser();
  const begun = async (page: Page, email: string) => {
    await page.goto('/portal/singleSignOn');
    await ssoForm(page).email.fill(email);
    const asked = page.waitForRequest((request) => request.url().startsWith(`${provider.issuer}/auth`));
    await ssoForm(page).button.click();
    await page.waitForURL(`${provider.issuer}/**`);
    return new URL((await asked).url());
  };
  const mixed = await begun(attacker, 'anybody@oidc.test');
  mixed.searchParams.set('state', (await begun(victim, 'olga@evil.test')).searchParams.get('state') ?? '');
  mixed.searchParams.set('login_hint', 'olga@oidc.test');
  await victim.goto(mixed.href);
  await atProvider(victim).signIn();
  const reference = await expectFailure(victim);
  expect((await portal.run(['explain', reference])).out).toContain('is expected at');
  for (const page of [attacker, victim]) {
    await page.goto('/portal/portal.html');
    await expect(ssoButton(page)).toBeVisible();
  }
});
