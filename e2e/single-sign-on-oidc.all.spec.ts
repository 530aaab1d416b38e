import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import type { OpenIdProvider } from '#testing/openid-provider-for-test.ts';
import { codeForm } from './code-form.ts';
import { startOpenIdProviderOf } from './openid-provider-of-portal.ts';
import type { PortalUnderTest } from './portal-under-test.ts';
import { sendAgainFromHistory } from './send-again-from-history.ts';
import { expectSignedIn, signInForm, signOutButton } from './sign-in-form.ts';
import { atProvider, expectFailure, ssoButton, ssoForm } from './single-sign-on-form.ts';
import { test as base, expect } from './test.ts';

/** One provider and one customer for the whole file, at another site than the portal. */
const test = base.extend<{ provider: OpenIdProvider }>({
  provider: async ({ oncePerWorker, portal }, use) => await use(await oncePerWorker.get(startOpenIdProviderOf, portal)),
});

// Both workers would need a provider otherwise.
test.describe.configure({ mode: 'default' });

const both = { tag: '@without-script' };

test.beforeEach(({ watch, provider }) => watch.host(provider.issuer));

async function signInByForm(page: Page, email = 'olga@oidc.test'): Promise<void> {
  await page.goto('/portal/login');
  await ssoButton(page).click();
  await ssoForm(page).send(email);
  await expect(atProvider(page).email).toHaveValue(email);
  await atProvider(page).signIn();
}

test(
  'signs in from the sign-in page at the provider of the address, and the second time without typing',
  both,
  async ({ page }) => {
    await signInByForm(page);
    await expect(page).toHaveURL('/portal/portal.html');
    await expectSignedIn(page, 'olga');
    await page.context().clearCookies({ name: 'vestibule-session' });
    await page.goto('/portal/login');
    await ssoButton(page).click();
    await expectSignedIn(page, 'olga');
  },
);

test('a deep link survives the way to the provider and back', both, async ({ page }) => {
  await page.goto('/portal/singleSignOn?destination=%2Fportal%2Fportal.html%3Freport%3D7');
  await ssoForm(page).send('olga@oidc.test');
  await atProvider(page).signIn();
  await expect(page).toHaveURL('/portal/portal.html?report=7');
});

test('the fragment of a deep link survives as well with JavaScript', async ({ page }) => {
  await page.goto('/portal/#/reports/7');
  await ssoButton(page).click();
  await ssoForm(page).send('olga@oidc.test');
  await atProvider(page).signIn();
  await expect(page).toHaveURL(/#\/reports\/7$/);
});

test(
  'cancel at the provider ends on a page with a reference and a way back, the destination kept',
  both,
  async ({ page, portal }) => {
    await page.goto('/portal/singleSignOn?destination=%2Fportal%2Fportal.html%3Freport%3D7');
    await ssoForm(page).send('olga@oidc.test');
    await atProvider(page).cancel();
    const reference = await expectFailure(page);
    const { out } = await portal.run(['explain', reference]);
    expect(out).toContain('access_denied');
    await page.getByRole('link', { name: 'Return to sign-in' }).click();
    await ssoButton(page).click();
    await ssoForm(page).send('olga@oidc.test');
    await atProvider(page).signIn();
    await expect(page).toHaveURL('/portal/portal.html?report=7');
  },
);

test(
  'OI-01 an answer that an altered link sends in the fragment leaves the address at once',
  both,
  async ({ page }) => {
    await page.goto('/portal/authenticate/oidc/callback/oidc#code=of-a-victim&state=of-an-attacker');
    await expectFailure(page);
    expect(page.url()).not.toContain('of-a');
  },
);

test('OI-02 two tabs at the provider return side by side, each to its own destination', both, async ({ page }) => {
  const other = await page.context().newPage();
  for (const [tab, report] of [
    [page, 1],
    [other, 2],
  ] as const) {
    await tab.goto(`/portal/singleSignOn?destination=%2Fportal%2Fportal.html%3Freport%3D${report}`);
    await ssoForm(tab).send('olga@oidc.test');
    await expect(atProvider(tab).email).toBeVisible();
  }
  const visits = async () => (await page.context().cookies()).filter(({ name }) => name.startsWith('vestibule-visit-'));
  expect(await visits()).toHaveLength(2);
  await atProvider(page).signIn();
  await expect(page).toHaveURL('/portal/portal.html?report=1');
  await atProvider(other).signIn();
  await expect(other).toHaveURL('/portal/portal.html?report=2');
  expect(await visits()).toEqual([]);
});

test('Back from the provider leads to the working form', both, async ({ page }) => {
  await page.goto('/portal/singleSignOn');
  await ssoForm(page).send('olga@oidc.test');
  await expect(atProvider(page).email).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL(/\/portal\/singleSignOn/);
  await ssoForm(page).send('olga@oidc.test');
  await atProvider(page).signIn();
  await expectSignedIn(page, 'olga');
});

test('an unknown person, and a domain that nobody vouches for, end on the failure page', both, async ({ page }) => {
  await page.goto('/portal/singleSignOn');
  await ssoForm(page).send('stranger@oidc.test');
  await atProvider(page).signIn();
  await expectFailure(page);
  await page.goto('/portal/singleSignOn');
  await ssoForm(page).send('olga@nowhere.test');
  await expectFailure(page);
});

test('a connection disabled while the visitor is at the provider lets nobody in', both, async ({ page, portal }) => {
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

test('signing out ends the session of the provider as well', both, async ({ page }) => {
  await signInByForm(page);
  await expectSignedIn(page, 'olga');
  await signOutButton(page).click();
  await expect(page).toHaveURL(/\/session\/end/);
});

test(
  'SE-15 signing out counts even if the browser is closed before it reads the response',
  both,
  async ({ page, portal }) => {
    await signInByForm(page);
    await expectSignedIn(page, 'olga');
    const cookie = (await page.context().cookies(portal.origin))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const headers = { cookie, origin: portal.origin, 'sec-fetch-site': 'same-origin' };
    const lost = await fetch(`${portal.origin}/portal/logout`, { method: 'POST', redirect: 'manual', headers });
    expect(lost.status).toBeLessThan(400);
    await page.context().clearCookies({ name: 'vestibule-session' });
    await page.goto('/portal/login');
    await ssoButton(page).click();
    await expect(atProvider(page).email).toBeVisible();
  },
);

test('signing out at the provider ends the session here as well', both, async ({ page, provider, portal }) => {
  await signInByForm(page);
  await expectSignedIn(page, 'olga');
  await page.goto(`${provider.issuer}/session/end`);
  await page.getByRole('button', { name: /yes/i }).click();
  await expect.poll(async () => (await portal.eventsOf('olga', 'signed-out-by-provider')).length).toBeGreaterThan(0);
  await page.goto('/portal/portal.html');
  await expect(ssoButton(page)).toBeVisible();
});

test(
  'SE-15 a device whose user an operator has signed out has to sign in at the provider again',
  both,
  async ({ page, portal }) => {
    await signInByForm(page);
    await expectSignedIn(page, 'olga');
    await portal.mustRun(['user', 'sign-out', 'olga']);
    await page.goto('/portal/portal.html');
    await ssoButton(page).click();
    await expect(atProvider(page).email).toBeVisible();
  },
);

test(
  'SE-15 the next person finds a form in the history that was to lead elsewhere, and sending it again leads to the start',
  both,
  async ({ page, watch }) => {
    watch.expect(/performSsoLogin/i, /./);
    await page.goto('/portal/singleSignOn?destination=%2Fportal%2Fportal.html%3Fplan%3D7');
    await page.route('**/performSsoLogin', (route) => route.abort('connectionreset'));
    await ssoForm(page).send('olga@oidc.test');
    await page.waitForURL('chrome-error://**');
    await page.unroute('**/performSsoLogin');
    await signInByForm(page);
    await expectSignedIn(page, 'olga');
    await signOutButton(page).click();
    await expect(page).toHaveURL(/\/session\/end/);

    await sendAgainFromHistory(page, 'performSsoLogin');
    // Nor does the provider learn whose address was typed.
    await expect(atProvider(page).email).toHaveValue('');
    await atProvider(page).email.fill('olga@oidc.test');
    await atProvider(page).signIn();
    // What was typed in that form is nobody's, so the page asks.
    await page.getByRole('button', { name: 'Continue as olga' }).click();
    await expectSignedIn(page, 'olga');
    await expect(page).toHaveURL('/portal/portal.html');
  },
);

test('a domain that requires it redirects its users from the sign-in form', both, async ({ page, portal }) => {
  await portal.mustRun(['connection', 'set', 'oidc', '--required', 'on']);
  try {
    await page.goto('/portal/login');
    await signInForm(page).send('olga@oidc.test', 'whatever');
    await expect(page.getByText('Your company uses single sign‑on')).toBeVisible();
    await expect(ssoForm(page).email).toHaveValue('olga@oidc.test');
    await ssoForm(page).button.click();
    await atProvider(page).signIn();
    await expectSignedIn(page, 'olga');
  } finally {
    await portal.mustRun(['connection', 'set', 'oidc', '--required', 'off']);
  }
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

test(
  'a second factor that the customer requires is asked for after the provider',
  both,
  async ({ page, portal, inbox, javaScriptEnabled }) => {
    await during(portal, customer('--two-factor', 'email'), customer('--two-factor', 'off'), async () => {
      await page.goto('/portal/singleSignOn?destination=%2Fportal%2Fportal.html%3Freport%3D7');
      await ssoForm(page).send('olga@oidc.test');
      await atProvider(page).signIn();
      const { code } = await inbox.take('olga@oidc.test', 'signInCode');
      await codeForm(page, javaScriptEnabled).send(code);
      await expect(page).toHaveURL('/portal/portal.html?report=7');
      await expectSignedIn(page, 'olga');
    });
  },
);

test('a customer that does not admit the address says so after the provider', both, async ({ page, portal }) => {
  const fence = customer('--allow-network', '203.0.113.0/24');
  await during(portal, fence, customer('--allow-anywhere'), async () => {
    await page.goto('/portal/singleSignOn');
    await ssoForm(page).send('olga@oidc.test');
    await atProvider(page).signIn();
    await expect(page).toHaveURL(/\/loginfail\/ip\?ipaddress=127\.0\.0\.1/);
  });
});

test('a provider that is down, or does not answer, gives its page', both, async ({ page, portal, provider }) => {
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
