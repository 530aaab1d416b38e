import type { Page } from '@playwright/test';
import { askingClientId } from '../providers/lemonldap/configuration.ts';
import { type Lemonldap, startLemonldap } from '../providers/lemonldap-for-test.ts';
import { expectFailure, expectSignedIn, pressOn, signOutButton, ssoButton, ssoForm } from './forms.ts';
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

/** The pages of LemonLDAP::NG. Everyone's password there is their name. */
function atLemonldap(page: Page) {
  // Its script sets the labels of the fields, so without it they have none.
  const user = page.locator('input[name="user"]');
  const button = (name: string) => page.getByRole('button', { name });
  return {
    user,
    async signIn(name: string, secret = name): Promise<void> {
      await user.fill(name);
      await page.locator('input[name="password"]').fill(secret);
      await button('Connect').click();
    },
    /** Its message for a wrong password, which its script inserts by this number. */
    wrongCredentials: page.locator('[trmsg="5"]'),
    refuse: () => button('Refuse').click(),
  };
}

/** Types the address on the open page. */
async function goToProvider(page: Page, email: string): Promise<void> {
  await ssoButton(page).click();
  await ssoForm(page).send(email);
}

for (const { protocol, name, email } of people) {
  test(
    `${protocol}: a wrong password and then the right one, the deep link kept, the second time without typing`,
    both,
    async ({ page }) => {
      await page.goto('/portal/portal.html?report=7');
      await goToProvider(page, email);
      await atLemonldap(page).signIn(name, 'wrong');
      await expect(atLemonldap(page).wrongCredentials).toHaveCount(1);
      await atLemonldap(page).signIn(name);
      if (protocol === 'saml') await pressOn(page);
      await expect(page).toHaveURL('/portal/portal.html?report=7');
      await expectSignedIn(page, name);
      await page.context().clearCookies({ name: 'vestibule-session' });
      await page.goto('/portal/login');
      await ssoButton(page).click();
      if (protocol === 'saml') await pressOn(page);
      await expectSignedIn(page, name);
    },
  );

  test(`${protocol}: the fragment of a deep link survives with JavaScript`, async ({ page }) => {
    await page.goto('/portal/#/reports/7');
    await goToProvider(page, email);
    await atLemonldap(page).signIn(name);
    if (protocol === 'saml') await pressOn(page);
    await expect(page).toHaveURL(/#\/reports\/7$/);
  });

  test(`SA-42 ${protocol}: another person’s link lets nobody in, neither its sender nor whoever follows it`, async ({
    page: attacker,
    anotherBrowser,
    provider,
  }) => {
    const asked = attacker.waitForRequest((request) => request.url().startsWith(`${provider.origin}/`));
    await attacker.goto('/portal/login');
    await goToProvider(attacker, email);
    const link = (await asked).url();
    await expect(atLemonldap(attacker).user).toBeVisible();

    const { page: victim } = await anotherBrowser();
    await victim.goto(provider.origin);
    await atLemonldap(victim).signIn(name);
    await expect(atLemonldap(victim).user).toBeHidden();
    await victim.goto(link);
    if (protocol === 'saml') await pressOn(victim);
    await expectFailure(victim, protocol);

    for (const page of [attacker, victim]) {
      await page.goto('/portal/portal.html');
      await expect(ssoButton(page)).toBeVisible();
    }
  });
}

test('oidc: refused consent ends on a page with a reference', async ({ page, portal }) => {
  const comeBy = (id: string) => portal.mustRun(['connection', 'set', 'lemon-oidc', '--client-id', id]);
  await comeBy(askingClientId({ clientId }));
  try {
    await page.goto('/portal/login');
    await goToProvider(page, 'olive@lemon-oidc.test');
    await atLemonldap(page).signIn('olive');
    await atLemonldap(page).refuse();
    const reference = await expectFailure(page);
    expect((await portal.run(['explain', reference])).out).toContain('consent');
  } finally {
    await comeBy(clientId);
  }
});

test('oidc: signing out here signs out there', both, async ({ page }) => {
  await page.goto('/portal/login');
  await goToProvider(page, 'olive@lemon-oidc.test');
  await atLemonldap(page).signIn('olive');
  await expectSignedIn(page, 'olive');
  await signOutButton(page).click();
  await expect(page).toHaveURL(/\/portal\/login/);
  await ssoButton(page).click();
  await expect(atLemonldap(page).user).toBeVisible();
});

test('saml: signing out here signs out there', both, async ({ page }) => {
  await page.goto('/portal/login');
  await goToProvider(page, 'saul@lemon-saml.test');
  await atLemonldap(page).signIn('saul');
  await pressOn(page);
  await expectSignedIn(page, 'saul');
  await signOutButton(page).click();
  await expect(page).toHaveURL('/portal/login');
  await ssoButton(page).click();
  await expect(atLemonldap(page).user).toBeVisible();
});

test('saml: signing out there signs out here', both, async ({ page, provider }) => {
  await page.goto('/portal/login');
  await goToProvider(page, 'saul@lemon-saml.test');
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
