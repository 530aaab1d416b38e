import type { Page } from '@playwright/test';
import { type Language, languages } from '#contract/languages.ts';
import { axeScript, expectAccessible } from './axe.ts';
import { cutTexts } from './cut-texts.ts';
import { everyScreen, withQuery } from './every-screen.ts';
import { comeFromOwnPage } from './from-own-page.ts';
import { signInForm } from './sign-in-form.ts';
import { expect, test } from './test.ts';
import { type MessageKey, textsOf } from './texts.ts';

const texts = textsOf('en');

const heading = (page: Page) => page.getByRole('heading', { level: 1 });

/** Rendered by the server alone, in texts of its own. */
const isAccountPage = (address: string) => address.startsWith('/portal/account');

/**
 * The text that an address makes the screen show, as its title or on the account page: others are shown beside a field, or
 * replace a page's text.
 */
function noticeOf(address: string, texts: Record<MessageKey, string>): string {
  if (address.startsWith('/portal/loginfail/')) return '';
  const [, notice = ''] = /[?&]notice=(\w+)/.exec(address) ?? [];
  const [, reason] = /[?&]reason=(\d)/.exec(address) ?? [];
  if (!isAccountPage(address)) {
    const key = `notice-${notice}-title`;
    return key in texts ? `${texts[key as MessageKey]}.` : '';
  }
  if (notice === '') return '';
  return texts[(reason ? `changed-failed-page-error-${reason}` : `account-notice-${notice}`) as MessageKey];
}

const usual = { width: 1280, height: 800 };
/** 400 % zoom. */
const zoomed = { width: 320, height: 256 };

/** A screen as its visitor has it: read at once, since each question to the browser takes as long as the page. */
async function screenOf(page: Page, told: readonly string[], imprint: string) {
  return await page.evaluate(
    ({ told, imprint }) => {
      const { scrollWidth, clientWidth, lang } = document.documentElement;
      const main = document.querySelector('main');
      const textOf = (element: Element) => element.textContent.replace(/[ \n]+/g, ' ').trim();
      const seen = (selector: string, text: string) =>
        [...document.querySelectorAll<HTMLElement>(selector)].some(
          (element) => textOf(element) === text && element.checkVisibility({ visibilityProperty: true }),
        );
      return {
        lang,
        title: document.title,
        heading: [...document.querySelectorAll('h1')].map(textOf).join(),
        told: told.every((text) => seen('main *', text)),
        imprint: seen('a[href]', imprint),
        placeholder: /\{\w+\}/.exec(main?.innerText ?? 'no main {part}')?.[0],
        logoLinks: [...document.querySelectorAll('header a[href]')].map(textOf),
        scrollsSideways: scrollWidth > clientWidth,
        isScripted: Object.keys(document.querySelector('#lang') ?? {}).some((key) => key.startsWith('__react')),
      };
    },
    { told, imprint },
  );
}

for (const [index, { address, heading: key, shows, stage, status = 200, needs }] of everyScreen.entries()) {
  test(`${address} says what it is in the requested language`, async ({
    page,
    context,
    watch,
    stages,
    javaScriptEnabled,
  }) => {
    if (needs) watch.expect(needs);
    await stages.enter(context, stage);
    await comeFromOwnPage(context);
    const isForEveryone = javaScriptEnabled && isAccountPage(address);
    if (isForEveryone) await page.addInitScript({ path: axeScript });
    // With JavaScript each page is checked after hydration, in all six languages; without, they alternate.
    const turn = languages[index % languages.length] as Language;
    for (const language of javaScriptEnabled ? languages : [turn]) {
      const texts = textsOf(language);
      await page.setViewportSize(isForEveryone || ['en', 'de', 'pl'].includes(language) ? zoomed : usual);
      const answer = await page.goto(withQuery(address, `lang=${language}`));
      expect(answer?.status()).toBe(status);
      // Every test checks that nothing violates it (HD-07).
      const policy = answer?.headers()['content-security-policy'];
      expect(policy).toMatch(/default-src 'none'/);
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      const told = [noticeOf(address, texts), shows ? texts[shows] : ''].filter(Boolean);
      await expect
        .poll(() => screenOf(page, told, texts.imprint), { intervals: [50] })
        .toEqual({
          lang: language,
          title: `${texts[key]} · Vestibule`,
          heading: expect.stringContaining(texts[key]),
          told: true,
          imprint: true,
          // Every screen but the sign-in form has a logo that leads to it.
          logoLinks: key === 'login-title' ? [] : ['Vestibule'],
          scrollsSideways: false,
          // The account page is not React's.
          isScripted: javaScriptEnabled && !isAccountPage(address),
        });
      // every-screen.spec.ts does so for all screens, in English.
      if (isForEveryone)
        await test.step(`the account page is for everyone in ${language}`, async () => {
          await expectAccessible(page);
          expect(await cutTexts(page)).toEqual([]);
        });
    }
  });
}

test('the focus starts where the work starts', async ({ page, context, stages }) => {
  for (const [address, label, stage] of [
    ['/portal/login', texts['login-username']],
    ['/portal/forgotten', texts.email],
    ['/portal/singleSignOn', texts.email],
    ['/portal/loginfail/default', texts['login-username']],
    ['/portal/forgottenChange?hash=of-a-mail', texts['change-password']],
    ['/portal/forgottenChange?hash=of-a-mail&reason=1', texts['change-password']],
    ['/portal/twoFactor', 'Digit 1 of 6', 'app'],
    ['/portal/twoFactor?recovery=true', texts['recovery-code'], 'app'],
    ['/portal/twoFactor?codeSentViaEmail=true', 'Digit 1 of 6', 'email'],
    ['/portal/twoFactorRegistration?codeSentViaEmail=true', 'Digit 1 of 6', 'new email'],
  ] as const) {
    await stages.enter(context, stage);
    await page.goto(address);
    await expect(page.getByLabel(label, { exact: true })).toBeFocused();
  }
});

test('after a wrong password the focus is in the password, with the reason read out there', async ({ page }) => {
  await page.goto('/portal/login');
  await signInForm(page).send('ada', `wrong ${Math.random()}`);
  await expect(heading(page)).toHaveText(texts['login-fail-default-title']);
  await expect(signInForm(page).username).toHaveValue('ada');
  await expect(signInForm(page).password).toBeFocused();
  await expect(signInForm(page).password).toHaveAccessibleDescription(texts['login-fail-default-text']);
});

test('on a screen change the focus goes to the first field, else to the heading', async ({ page }) => {
  await page.goto('/portal/login');
  await page.getByRole('link', { name: 'Forgot password?' }).click();
  await expect(page.getByLabel(texts.email)).toBeFocused();
  await page.getByRole('link', { name: 'Return to sign-in' }).click();
  await expect(signInForm(page).username).toBeFocused();
  await page.getByRole('link', { name: 'Forgot password?' }).click();
  await page.getByLabel(texts.email).fill('ada@acme.test');
  await page.getByRole('button', { name: 'Send link' }).click();
  await expect(heading(page)).toHaveText('Check your inbox');
  await expect(heading(page)).toBeFocused();
  // History was replaced: Back skips the submitted form.
  await page.goBack();
  await expect(page).toHaveURL('/portal/login');
});
