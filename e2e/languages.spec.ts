import { languageNames, languages } from '#contract/languages.ts';
import { signInForm } from './sign-in-form.ts';
import { expect, test } from './test.ts';
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
});

test('each language in the menu has its own name', both, async ({ page }) => {
  await page.goto('/portal/login');
  for (const language of languages) {
    await expect(page.getByLabel('Language').locator(`option[lang=${language}]`)).toHaveText(languageNames[language]);
  }
});
