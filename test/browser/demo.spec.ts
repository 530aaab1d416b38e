import { codeIn, test } from './demo-under-test.ts';
import { codeForm, expectFailure, signInForm, ssoForm } from './forms.ts';
import { both, expect } from './test.ts';

// One demo, and one person after the other.
test.describe.configure({ mode: 'default' });

test(
  'a plain sign-in ends in the hub, which knows who it is, and sign-out leads back',
  both,
  async ({ page, demo }) => {
    await demo.sendPassword(await demo.open('plain'));
    await demo.expectInHub('ada');
    await expect(page.locator('.lede')).toContainText('Alder & Sons');
    await expect(page.locator('pre')).toContainText('"aud": "quayside"');
    await demo.signOut();
    await expect(signInForm(page).username).toBeVisible();
  },
);

test('the codes of the authenticator and of the mails are accepted', async ({ page, demo }) => {
  await demo.sendPassword(await demo.open('app'));
  await expect(codeForm(page).field).toBeVisible();
  await codeForm(page).send(await demo.appCodeOf('bea'));
  await demo.expectInHub('bea');
  await demo.sendPassword(await demo.open('email'));
  await expect(codeForm(page).field).toBeVisible();
  await codeForm(page).send(codeIn(await demo.mailTo('carl@cedar.example')));
  await demo.expectInHub('carl');
});

for (const [id, email] of [
  ['oidc', 'erik@elm.example'],
  ['saml', 'faye@fir.example'],
] as const)
  test(
    `${id}: cancelled at the provider, then somebody is picked there, and is in`,
    both,
    async ({ page, demo, javaScriptEnabled }) => {
      // On the provider's page with the answer, and on ours that posts it to our own origin.
      const pressOn = async () => {
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.waitForURL(/saml\/acs/);
        await page.getByRole('button', { name: 'Continue' }).click();
      };
      await demo.open(id);
      await ssoForm(page).button.click();
      await page.getByRole('button', { name: 'Cancel' }).click();
      if (!javaScriptEnabled && id === 'saml') await pressOn();
      await expectFailure(page, id);
      await demo.open(id);
      await demo.pick(email);
      if (!javaScriptEnabled && id === 'saml') await pressOn();
      await demo.expectInHub(email.split('@')[0] as string);
    },
  );

test('every link of the start page leads somewhere, and every password is printed', async ({ page, request, demo }) => {
  await page.goto(demo.startPage);
  const links = await page.locator('a').evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
  expect(links.length).toBeGreaterThan(30);
  for (const link of new Set(links)) {
    const status = (await request.get(link, { headers: { accept: 'text/html' } })).status();
    expect([link, status]).toEqual([link, link.endsWith('/open/not-found') ? 404 : 200]);
  }
  const cases = await page.locator('[data-password]').all();
  for (const one of cases) expect(demo.process.output).toContain(await one.getAttribute('data-password'));
});
