import { languageNames, languages } from '#contract/languages.ts';
import { appCode } from './authenticator-app.ts';
import { codeForm } from './code-form.ts';
import { signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';

const both = { tag: '@without-script' };

for (const [locale, language] of [
  ['de-AT', 'de'],
  ['pl', 'pl'],
  ['fr-FR', 'en'],
] as const) {
  test(`a browser set to ${locale} gets ${language}`, both, async ({ anotherBrowser }) => {
    const { page } = await anotherBrowser({ locale });
    await page.goto('/portal/login');
    await expect(page.locator('html')).toHaveAttribute('lang', language);
    await expect(page.getByRole('heading')).toHaveText(textsOf(language)['login-title']);
  });
}

test('the menu changes the language in place and keeps what was typed', async ({ page }) => {
  await page.goto('/portal/login');
  await signInForm(page).fill('ada', 'half typed');
  const loads: string[] = [];
  page.on('request', (request) => request.isNavigationRequest() && loads.push(request.url()));
  let texts = textsOf('en');
  for (const language of [...languages.slice(1), 'en'] as const) {
    await page.getByLabel(texts.language).selectOption(languageNames[language]);
    texts = textsOf(language);
    await expect(page.getByRole('heading')).toHaveText(texts['login-title']);
    await expect(page.locator('html')).toHaveAttribute('lang', language);
    await expect(page).toHaveTitle(`${texts['login-title']} · Vestibule`);
    await expect(page).toHaveURL(`/portal/login?lang=${language}`);
    await expect(page.getByLabel(texts['login-username'])).toHaveValue('ada');
    await expect(page.getByLabel(texts['login-password'], { exact: true })).toHaveValue('half typed');
  }
  expect(loads).toEqual([]);
});

test('without JavaScript the menu is applied by its button', { tag: '@without-script-only' }, async ({ page }) => {
  await page.goto('/portal/loginfail/ip?ipaddress=203.0.113.5');
  let texts = textsOf('en');
  for (const language of [...languages.slice(1), 'en'] as const) {
    await page.getByLabel(texts.language).selectOption(languageNames[language]);
    await page.getByRole('button', { name: texts['language-apply'] }).click();
    texts = textsOf(language);
    await expect(page.locator('html')).toHaveAttribute('lang', language);
    await expect(page.getByRole('heading')).toHaveText(texts['login-fail-ip-title']);
    await expect(page.getByText('203.0.113.5')).toBeVisible();
  }
});

test('with JavaScript there is no button to apply it', async ({ page }) => {
  await page.goto('/portal/login');
  await expect(page.getByRole('button', { name: 'Apply' })).toHaveCount(0);
});

test('the language survives links, a failed attempt and sign-out', both, async ({ page }) => {
  const texts = textsOf('it');
  await page.goto('/portal/login?lang=it');
  await page.getByRole('link', { name: texts['login-forgotten'] }).click();
  await expect(page.getByRole('heading')).toHaveText(texts['forgotten-title']);
  await page.getByRole('link', { name: texts['return-to-login'] }).click();
  await page.getByLabel(texts['login-username']).fill('ada');
  await page.getByLabel(texts['login-password'], { exact: true }).fill('sbagliata');
  await page.getByRole('button', { name: texts['login-button'], exact: true }).click();
  await expect(page.getByRole('heading')).toHaveText(texts['login-fail-default-title']);
  await page.getByRole('link', { name: texts['return-to-login'] }).click();
  await expect(page.getByRole('heading')).toHaveText(texts['login-title']);
  await page.getByLabel(texts['login-username']).fill('ada');
  await page.getByLabel(texts['login-password'], { exact: true }).fill(password);
  await page.getByRole('button', { name: texts['login-button'], exact: true }).click();
  await expect(page.getByRole('heading')).toHaveText(texts['signed-in-title']);
  await expect(page).toHaveURL('/portal/portal.html?lang=it');
  // A signed-in visitor who comes back to the form is sent on in it.
  await page.goto('/portal/login?lang=it');
  await expect(page.getByRole('heading')).toHaveText(texts['signed-in-title']);
  await page.getByRole('button', { name: texts['sign-out-button'] }).click();
  await expect(page.getByRole('heading')).toHaveText(texts['login-title']);
  await expect(page).toHaveURL('/portal/login?lang=it');
  // Nobody is signed in there any more.
  await page.goto('/portal/portal.html?lang=it');
  await expect(page.getByRole('heading')).toHaveText(texts['login-title']);
});

test(
  'the language survives the second factor, with the fragment that was asked for',
  both,
  async ({ page, javaScriptEnabled, newPersonWithApp }) => {
    const { username, key } = await newPersonWithApp();
    const texts = textsOf('it');
    const fragment = javaScriptEnabled ? '#/reports/7' : '';
    await page.goto(`/portal/?lang=it${fragment}`);
    await page.getByLabel(texts['login-username']).fill(username);
    await page.getByLabel(texts['login-password'], { exact: true }).fill(password);
    await page.getByRole('button', { name: texts['login-button'], exact: true }).click();
    await expect(page.getByRole('heading')).toHaveText(texts['twofa-title']);
    await codeForm(page, javaScriptEnabled, 'it').send(appCode(key));
    await expect(page.getByRole('heading')).toHaveText(texts['signed-in-title']);
    await expect(page).toHaveURL(`/portal/portal.html?lang=it${fragment}`);
  },
);

test('a destination beside the portal gets no language', both, async ({ page, watch }) => {
  watch.expect(/404/);
  const texts = textsOf('it');
  await page.goto(`/portal/login?lang=it&${new URLSearchParams({ destination: '/hub/app?a=1' })}`);
  await page.getByLabel(texts['login-username']).fill('ada');
  await page.getByLabel(texts['login-password'], { exact: true }).fill(password);
  await page.getByRole('button', { name: texts['login-button'], exact: true }).click();
  await expect(page).toHaveURL('/hub/app?a=1');
});

test('each language in the menu has its own name', both, async ({ page }) => {
  await page.goto('/portal/login');
  for (const language of languages) {
    await expect(page.getByLabel('Language').locator(`option[lang=${language}]`)).toHaveText(languageNames[language]);
  }
});
