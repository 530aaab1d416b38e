import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { type SamlProviderForTest, startSamlProvider } from '../providers/saml-provider-for-test.ts';
import { addCustomerTo } from './portal-accounts.ts';
import type { PortalUnderTest } from './portal-under-test.ts';
import { expectSignedIn } from './sign-in-form.ts';
import { atProvider, pressOn, ssoButton, ssoForm } from './single-sign-on-form.ts';
import { test as base, expect } from './test.ts';
import { textsOf } from './texts.ts';

/**
 * SimpleSAMLphp at another site, with metadata that offer only HTTP-POST. It answers a posted request by a redirect to
 * its sign-in page, so Chromium applies our page's policy to that as well.
 */
const test = base.extend<{ provider: SamlProviderForTest }>({
  provider: [
    async ({ oncePerWorker, portal }, use) => await use(await oncePerWorker.get(startFor, portal)),
    { timeout: 180_000 },
  ],
});

async function startFor(portal: PortalUnderTest): Promise<SamlProviderForTest> {
  const provider = await startSamlProvider();
  const folder = await mkdtemp(join(tmpdir(), 'post-alone-'));
  const metadata = (await provider.metadata()).replace(
    /(<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2\.0:bindings:)HTTP-Redirect"/g,
    '$1HTTP-POST"',
  );
  await writeFile(join(folder, 'metadata.xml'), metadata);
  await addCustomerTo(portal, 'posting', { name: 'Posting Ltd.' });
  await portal.mustRun(['user', 'add', 'pat', '--email', 'pat@post.test', '--customer', 'posting', '--no-password']);
  await portal.mustRun([
    ...['connection', 'add', 'saml', 'posting', '--customer', 'posting', '--domain', 'post.test'],
    ...['--metadata', join(folder, 'metadata.xml')],
  ]);
  await rm(folder, { recursive: true });
  const ours = await fetch(`${portal.origin}/portal/authenticate/saml/metadata`);
  await provider.trust(await ours.text());
  return provider;
}

// Both workers would need a provider otherwise.
test.describe.configure({ mode: 'default' });

const both = { tag: '@without-script' };
const onward = textsOf('en')['leaving-button'].replace('{provider}', '');

test.beforeEach(({ watch, provider }) => watch.host(provider.origin));

/** Our page with the form posts itself with JavaScript, and has a button without. */
async function toProvider(page: Page): Promise<void> {
  await page.goto('/portal/singleSignOn?destination=%2Fportal%2Fportal.html%3Freport%3D7');
  await ssoForm(page).send('pat@post.test');
  if (test.info().project.use.javaScriptEnabled === false) await page.getByRole('button', { name: onward }).click();
  await expect(atProvider(page).email).toBeVisible();
}

test('SA-41 signs in at a provider that accepts requests only by HTTP-POST', both, async ({ page, provider }) => {
  const posted = page.waitForRequest((request) => request.url() === provider.signOnUrl);
  await toProvider(page);
  expect((await posted).method()).toBe('POST');
  await atProvider(page).email.fill('pat@post.test');
  await atProvider(page).signIn();
  await pressOn(page);
  await expect(page).toHaveURL('/portal/portal.html?report=7');
  await expectSignedIn(page, 'pat');
});

test('Back from such a provider is not a trap: it ends on a page that stays', async ({ page, provider }) => {
  await toProvider(page);
  await page.goBack();
  await expect(page).not.toHaveURL(new RegExp(provider.origin));
  const button = page.getByRole('button', { name: onward });
  if (await button.isVisible()) {
    // It would have continued by itself long before a click.
    await page.waitForLoadState('networkidle');
    await button.click();
    await expect(atProvider(page).email).toBeVisible();
    await page.goBack();
    await page.goBack();
  }
  await expect(ssoForm(page).email.or(ssoButton(page))).toBeVisible();
});

test('SA-41 its page may post only to this provider', async ({ page, provider, watch }) => {
  const leaving = page.waitForResponse((response) => response.url().includes('/authenticate/leave'));
  // An answer without content, so that our page stays.
  await page.route(provider.signOnUrl, (route) => route.fulfill({ status: 204 }));
  await page.goto('/portal/singleSignOn');
  await ssoForm(page).send('pat@post.test');
  const policy = String((await leaving).headers()['content-security-policy']);
  expect(/form-action ([^;]*)/.exec(policy)?.[1]).toBe(`'self' ${provider.origin}`);
  watch.expect(/form-action/);
  await expect(page.getByRole('button', { name: onward })).toBeVisible();
  const refused = await page.evaluate(() => {
    const [form] = document.forms;
    if (form) form.action = 'https://idp.elsewhere.test/';
    const refusal = new Promise((done) =>
      addEventListener('securitypolicyviolation', (event) => done(event.blockedURI)),
    );
    form?.submit();
    return refusal;
  });
  expect(refused).toBe('https://idp.elsewhere.test/');
});
