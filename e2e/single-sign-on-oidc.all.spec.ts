import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import type { OpenIdProvider } from '#testing/openid-provider-for-test.ts';
import { startOpenIdProviderOf } from './openid-provider-of-portal.ts';
import type { PortalUnderTest } from './portal-under-test.ts';
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

async function signInByForm(page: Page, email = 'olga@oidc.test'): Promise<void> {
  await page.goto('/portal/login');
  await ssoButton(page).click();
  await ssoForm(page).send(email);
  await expect(atProvider(page).email).toHaveValue(email);
  await atProvider(page).signIn();
}

test('OI-01 an answer that an altered link sends in the fragment leaves the address at once', async ({ page }) => {
  await page.goto('/portal/authenticate/oidc/callback/oidc#code=of-a-victim&state=of-an-attacker');
  await expectFailure(page);
  expect(page.url()).not.toContain('of-a');
});

test('a connection disabled while the visitor is at the provider lets nobody in', async ({ page, portal }) => {
  await page.goto('/portal/singleSignOn');
  await ssoForm(page).send('olga@oidc.test');
  await expect(atProvider(page).email).toBeVisible();
  await portal.mustRun(['connection', 'set', 'oidc', '--disable']);
  try {
    await atProvider(page).signIn();
    await expectFailure(page);
  } finally {
    await portal.mustRun(['connection', 'set', 'oidc', '--enable']);
  }
});

test('signing out at the provider ends the session here as well', async ({ page, provider, portal }) => {
  await signInByForm(page);
  await expectSignedIn(page, 'olga');
  await page.goto(`${provider.issuer}/session/end`);
  await page.getByRole('button', { name: /yes/i }).click();
  await expect.poll(async () => (await portal.eventsOf('olga', 'signed-out-by-provider')).length).toBeGreaterThan(0);
  await page.goto('/portal/portal.html');
  await expect(ssoButton(page)).toBeVisible();
});

/** Applies a change while part of a test runs. */
async function during(
  portal: PortalUnderTest,
  change: string[],
  back: string[],
  work: () => Promise<void>,
): Promise<void> {
  await portal.mustRun(change);
  try {
    await work();
  } finally {
    await portal.mustRun(back);
  }
}

const customer = (...flags: string[]) => ['customer', 'set', 'oidc', ...flags];
const connection = (...flags: string[]) => ['connection', 'set', 'oidc', ...flags];

test('a customer that does not admit the address says so after the provider', async ({ page, portal }) => {
  const fence = customer('--allow-network', '203.0.113.0/24');
  await during(portal, fence, customer('--allow-anywhere'), async () => {
    await page.goto('/portal/singleSignOn');
    await ssoForm(page).send('olga@oidc.test');
    await atProvider(page).signIn();
    await expect(page).toHaveURL(/\/loginfail\/ip\?ipaddress=127\.0\.0\.1/);
  });
});

test('a provider that is down, or does not answer, gives its page', async ({ page, portal, provider }) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  for (const issuer of ['http://127.0.0.1:9', address]) {
    await during(
      portal,
      connection('--issuer', issuer, '--keep-links'),
      connection('--issuer', provider.issuer, '--keep-links'),
      async () => {
        await page.goto('/portal/singleSignOn');
        await ssoForm(page).email.fill('olga@oidc.test');
        await ssoForm(page).button.click({ noWaitAfter: true });
        await expect(page).toHaveURL(/\/loginfail\/oidc/, { timeout: 30_000 });
        await expectFailure(page);
      },
    );
  }
  silent.closeAllConnections();
  silent.close();
});
