import type { Page } from '@playwright/test';
import { type Lemonldap, startLemonldap } from '../providers/lemonldap-for-test.ts';
import { expectSignedIn, pressOn, signOutButton, ssoButton, ssoForm } from './forms.ts';
import { addCustomerTo } from './portal-accounts.ts';
import type { PortalUnderTest } from './portal-under-test.ts';
import { test as base, both, expect } from './test.ts';

const clientId = 'vestibule';
const people = [
  { protocol: 'oidc', name: 'olive', email: 'olive@lemon-oidc.test' },
  { protocol: 'saml', name: 'saul', email: 'saul@lemon-saml.test' },
] as const;

/** LemonLDAP::NG with two connections to it, one per protocol, at another site than the portal. */
const test = base.extend<{ provider: Lemonldap }>({
  provider: [
    async ({ oncePerWorker, portal }, use) => await use(await oncePerWorker.get(startFor, portal)),
    { timeout: 180_000 },
  ],
});

async function startFor(portal: PortalUnderTest): Promise<Lemonldap> {
  const callback = `${portal.origin}/portal/authenticate/oidc/callback`;
  // With every character that stays unencoded. It reads the base64 only up to the first `+` or `/`.
  const clientSecret = "it-is_a.secret!of~the*client'(1)";
  const provider = await startLemonldap(Object.fromEntries(people.map(({ name, email }) => [name, email])), {
    clientId,
    clientSecret,
    redirectUris: [`${callback}/lemon-oidc`],
    postLogoutRedirectUris: [`${portal.origin}/portal/login`],
    samlMetadata: await (await fetch(`${portal.origin}/portal/authenticate/saml/metadata`)).text(),
  });
  await addCustomerTo(portal, 'lemon', { name: 'Lemon Ltd.' });
  const { issuer, metadataUrl } = provider;
  const ways = {
    oidc: ['--issuer', issuer, '--client-id', clientId, '--client-secret-stdin'],
    saml: ['--metadata', metadataUrl],
  };
  for (const { protocol, name, email } of people) {
    await portal.mustRun(['user', 'add', name, '--email', email, '--customer', 'lemon', '--no-password']);
    const which = ['--customer', 'lemon', '--domain', `lemon-${protocol}.test`, '--provider-network', '127.0.0.0/8'];
    await portal.mustRun(
      ['connection', 'add', protocol, `lemon-${protocol}`, ...which, ...ways[protocol]],
      clientSecret,
    );
  }
  return provider;
}

// Both workers would need a provider otherwise.
test.describe.configure({ mode: 'default' });

test.beforeEach(({ watch, provider }) => watch.host(provider.origin));

/** The page of LemonLDAP::NG. Everyone's password there is their name. */
function atLemonldap(page: Page) {
  // Its script sets the labels of the fields, so without it they have none.
  const user = page.locator('input[name="user"]');
  return {
    user,
    async signIn(name: string, secret = name): Promise<void> {
      await user.fill(name);
      await page.locator('input[name="password"]').fill(secret);
      await page.getByRole('button', { name: 'Connect' }).click();
    },
    /** Its message for a wrong password, which its script inserts by this number. */
    wrongCredentials: page.locator('[trmsg="5"]'),
  };
}

for (const { protocol, name, email } of people)
  test(
    `${protocol}: a wrong password and then the right one, the deep link kept, again after a sign-out, and without typing`,
    both,
    async ({ page, javaScriptEnabled }) => {
      const asked = `/portal/portal.html?report=7${javaScriptEnabled ? '#/reports/7' : ''}`;
      const comesBack = async () => {
        if (protocol === 'saml') await pressOn(page);
        await expectSignedIn(page, name);
      };
      await page.goto(asked);
      await ssoButton(page).click();
      await ssoForm(page).send(email);
      await atLemonldap(page).signIn(name, 'wrong');
      await expect(atLemonldap(page).wrongCredentials).toHaveCount(1);
      await atLemonldap(page).signIn(name);
      await comesBack();
      await expect(page).toHaveURL(asked);
      await signOutButton(page).click();
      await expect(page).toHaveURL(/\/portal\/login/);
      await ssoButton(page).click();
      await atLemonldap(page).signIn(name);
      await comesBack();
      await page.context().clearCookies({ name: 'vestibule-session' });
      await page.goto('/portal/login');
      await ssoButton(page).click();
      await comesBack();
    },
  );

test('saml: signing out there signs out here', both, async ({ page, provider }) => {
  await page.goto('/portal/login');
  await ssoButton(page).click();
  await ssoForm(page).send('saul@lemon-saml.test');
  await atLemonldap(page).signIn('saul');
  await pressOn(page);
  await expectSignedIn(page, 'saul');
  await page.goto(`${provider.origin}/?logout=1`);
  // It calls the portal in a frame of its page.
  await expect(async () => {
    await page.goto('/portal/portal.html');
    await expect(ssoButton(page)).toBeVisible({ timeout: 1000 });
  }).toPass();
});
