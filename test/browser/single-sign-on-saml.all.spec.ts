import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { SamlProviderForTest } from '../providers/saml-provider-for-test.ts';
import { atProvider, expectFailure, expectSignedIn, pressOn, signOutButton, ssoButton, ssoForm } from './forms.ts';
import type { PortalUnderTest } from './portal-under-test.ts';
import { startSamlProviderOf } from './providers-of-portal.ts';
import { test as base, both, expect } from './test.ts';
import { texts } from './texts.ts';

/**
 * SimpleSAMLphp and one customer for the whole file, at another site than the portal. Its connection `posting` has metadata
 * that offer only HTTP-POST; it answers a posted request by a redirect, to which Chromium applies our page's policy as well.
 */
const test = base.extend<{ provider: SamlProviderForTest }>({
  provider: [
    async ({ oncePerWorker, portal, watch }, use) => {
      const provider = await oncePerWorker.get(startFor, portal);
      watch.host(provider.origin);
      await provider.set({});
      await use(provider);
    },
    { timeout: 180_000, auto: true },
  ],
});

async function startFor(portal: PortalUnderTest): Promise<SamlProviderForTest> {
  const provider = await startSamlProviderOf(portal);
  const folder = await mkdtemp(join(tmpdir(), 'post-alone-'));
  const metadata = (await provider.metadata()).replace(
    /(<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2\.0:bindings:)HTTP-Redirect"/g,
    '$1HTTP-POST"',
  );
  await writeFile(join(folder, 'metadata.xml'), metadata);
  await portal.mustRun(['user', 'add', 'pat', '--email', 'pat@post.test', '--customer', 'saml', '--no-password']);
  await portal.mustRun([
    ...['connection', 'add', 'saml', 'posting', '--customer', 'saml', '--domain', 'post.test'],
    ...['--metadata', join(folder, 'metadata.xml')],
  ]);
  await rm(folder, { recursive: true });
  return provider;
}

// Both workers would need a provider otherwise.
test.describe.configure({ mode: 'default' });

const onward = texts['leaving-button'].replace('{provider}', '');

async function signInAtProvider(page: Page, email = 'sam@saml.test'): Promise<void> {
  await atProvider(page).email.fill(email);
  await atProvider(page).signIn();
  await pressOn(page);
}

/** From our page to its own, and back. */
async function signInBy(page: Page, email = 'sam@saml.test'): Promise<void> {
  await page.goto('/portal/singleSignOn');
  await ssoForm(page).send(email);
  await signInAtProvider(page, email);
  await expectSignedIn(page, email.replace(/@.*/, ''));
}

test(
  'SA-42 signs in over the provider, which stands in no history; the next time without typing; signs out there too',
  both,
  async ({ page }) => {
    await page.goto('/portal/login');
    await ssoButton(page).click();
    await ssoForm(page).send('sam@saml.test');
    await signInAtProvider(page);
    await expectSignedIn(page, 'sam');
    await page.context().clearCookies({ name: 'vestibule-session' });
    await page.goto('/portal/login');
    await ssoButton(page).click();
    await pressOn(page);
    await expectSignedIn(page, 'sam');
    if (test.info().project.use.javaScriptEnabled !== false) {
      await page.goBack();
      await expect(page).not.toHaveURL(/authenticate\/saml/);
      await page.goto('/portal/portal.html');
    }
    await signOutButton(page).click();
    await expect(page).toHaveURL('/portal/login');
    await ssoButton(page).click();
    await expect(atProvider(page).email).toBeVisible();
  },
);

test('signing out there signs out here', both, async ({ page, provider }) => {
  await signInBy(page);
  await page.goto(provider.signOutUrl);
  await expect(page.getByRole('heading', { name: 'Signed out' })).toBeVisible();
  await page.goto('/portal/portal.html');
  await expect(ssoButton(page)).toBeVisible();
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

test(
  'SA-42 if one person begins and another brings the answer, neither is signed in',
  both,
  async ({ page: attacker, anotherBrowser, provider }) => {
    const { page: victim, context } = await anotherBrowser();
    await signInBy(victim);
    for (const isSignedInHere of [true, false]) {
      if (!isSignedInHere) await context.clearCookies({ name: 'vestibule-session' });
      // The provider's link of a visit, unvisited: it is for another person to follow.
      await attacker.goto('/portal/singleSignOn');
      await ssoForm(attacker).email.fill('anybody@saml.test');
      const asked = attacker.waitForRequest((request) => request.url().startsWith(provider.signOnUrl));
      await ssoForm(attacker).button.click();
      await victim.goto((await asked).url());
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
  'SA-42 a browser that has lost its cookies at the provider gets one page, which says so',
  both,
  async ({ page }) => {
    await page.goto('/portal/singleSignOn');
    await ssoForm(page).send('sam@saml.test');
    await expect(atProvider(page).email).toBeVisible();
    await page.context().clearCookies({ name: /^vestibule-/ });
    await signInAtProvider(page);
    await expect(page.getByText(texts['notice-cookiesNeeded-text'])).toBeVisible();
  },
);

test('SA-02 SA-15 SA-22 SA-35 SA-40 SA-41 what the provider signs, encrypts and says', async ({
  page,
  portal,
  provider,
  watch,
}) => {
  watch.expect(/status of 503/);
  const begin = async () => {
    await page.context().clearCookies();
    await page.goto('/portal/singleSignOn');
    const asked = page.waitForRequest((request) => request.url().startsWith(provider.signOnUrl));
    await ssoForm(page).send('sam@saml.test');
    await expect(atProvider(page).email).toBeVisible();
    return (await asked).url();
  };
  for (const options of [{ signs: 'assertion' }, { encrypts: true }] as const) {
    await provider.set(options);
    await begin();
    await signInAtProvider(page);
    await expectSignedIn(page, 'sam');
  }
  const metadata = await (await fetch(`${portal.origin}/portal/authenticate/saml/metadata`)).text();
  for (const [options, words] of [
    [{}, /AuthnFailed.*cancelled/],
    [{ algorithm: 'rsa-sha1' }, /Response is not verified.*sha1/],
    [{ encrypts: true, signs: 'assertion' }, /AES-CBC, which requires a signed response/],
    [{ nameFormat: 'transient' }, /transient/],
    [{ signs: 'response' }, /Assertion is not signed/],
  ] as const) {
    await provider.set(options);
    if ('signs' in options && options.signs === 'response')
      await provider.trust(metadata.replace(' WantAssertionsSigned="true"', ''));
    await begin();
    if (Object.keys(options).length === 0) await atProvider(page).cancel();
    else await signInAtProvider(page);
    expect((await portal.run(['explain', await expectFailure(page, 'saml')])).out).toMatch(words);
  }
  await provider.trust(metadata);
  // A request not signed by our key.
  const url = await begin();
  await page.goto(url.replace(/RelayState=[^&]*/, 'RelayState=another'));
  await expect(atProvider(page).email).not.toBeVisible();
});

test(
  'SA-41 signs in at a provider that accepts requests only by HTTP-POST, from which Back is no trap',
  both,
  async ({ page, provider, javaScriptEnabled }) => {
    const button = page.getByRole('button', { name: onward });
    const posted = page.waitForRequest((request) => request.url() === provider.signOnUrl);
    await page.goto('/portal/singleSignOn?destination=%2Fportal%2Fportal.html%3Freport%3D7');
    await ssoForm(page).send('pat@post.test');
    // Our page with the form posts itself with JavaScript, and has a button without.
    if (!javaScriptEnabled) await button.click();
    await expect(atProvider(page).email).toBeVisible();
    expect((await posted).method()).toBe('POST');
    await page.goBack();
    await expect(page).not.toHaveURL(new RegExp(provider.origin));
    // It would have continued by itself long before this.
    await page.waitForLoadState('networkidle');
    if (await button.isVisible()) await button.click();
    else await page.goForward();
    await signInAtProvider(page, 'pat@post.test');
    await expect(page).toHaveURL('/portal/portal.html?report=7');
    await expectSignedIn(page, 'pat');
  },
);
