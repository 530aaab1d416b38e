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

const both = { tag: '@without-script' };
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
  test(
    `${address} says what it is in the requested language`,
    both,
    async ({ page, context, watch, stages, javaScriptEnabled }) => {
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
    },
  );
}

test('the logo leads to the sign-in form', both, async ({ page, watch }) => {
  watch.expect(/status of 404/);
  await page.goto('/portal/no/such/page');
  await page.getByRole('banner').getByRole('link').click();
  await expect(heading(page)).toHaveText('Sign in');
});

for (const [address, target] of [
  ['/portal/loginFail', '/portal/loginfail/default'],
  ['/portal/loginfailOIDC', '/portal/loginfail/oidc'],
  ['/portal/loginfailSAML', '/portal/loginfail/saml'],
  ['/portal/loginfailIP?ipaddress=1.2.3.4&lang=de', '/portal/loginfail/ip?ipaddress=1.2.3.4&lang=de'],
  ['/', '/portal/'],
] as const) {
  test(`${address} redirects to ${target}`, both, async ({ page }) => {
    await page.goto(address);
    await expect(page).toHaveURL(target);
  });
}

test('an unknown address is answered 404, with the address as text', both, async ({ page, watch }) => {
  watch.expect(/status of 404/);
  const answer = await page.goto('/portal/no/such/page?x=<b>bold</b>');
  expect(answer?.status()).toBe(404);
  await expect(heading(page)).toHaveText('404: Page not found');
  await expect(page.getByText('/portal/no/such/page?x=')).toBeVisible();
  await expect(page.getByRole('main').locator('b')).toHaveCount(0);
  await page.getByRole('link', { name: 'Return to sign-in' }).click();
  await expect(page).toHaveURL('/portal/login');
});

test('a failure page names an address only if it is one', both, async ({ page }) => {
  await page.goto('/portal/loginfail/ip?ipaddress=203.0.113.5');
  await expect(page.getByText('Your address 203.0.113.5')).toBeVisible();
  await page.goto('/portal/loginfail/ip?ipaddress=call+0900-123');
  await expect(page.getByText('Your address unknown')).toBeVisible();
  await page.goto('/portal/loginfail/ip');
  await expect(page.getByText('Your address unknown')).toBeVisible();
});

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

test('after a wrong password the focus is in the password, with the reason read out there', both, async ({ page }) => {
  await page.goto('/portal/login');
  await signInForm(page).send('ada', `wrong ${Math.random()}`);
  await expect(heading(page)).toHaveText(texts['login-fail-default-title']);
  await expect(signInForm(page).username).toHaveValue('ada');
  await expect(signInForm(page).password).toBeFocused();
  await expect(signInForm(page).password).toHaveAccessibleDescription(texts['login-fail-default-text']);
});

test('the form for a new password takes the focus, with what was wrong read out there', both, async ({ page }) => {
  await page.goto('/portal/forgottenChange?hash=of-a-mail&reason=1');
  const field = page.getByLabel(texts['change-password'], { exact: true });
  await expect(field).toBeFocused();
  await expect(field).toHaveAccessibleDescription(new RegExp(`^${texts['password-page-error-1']}`));
});

test('a very long name of the hub wraps inside the door', async ({ page }) => {
  for (const viewport of [
    { width: 320, height: 640 },
    { width: 1280, height: 800 },
    { width: 844, height: 390 },
  ]) {
    await page.setViewportSize(viewport);
    await page.goto('/portal/login');
    const name = page.locator('.logo > span');
    await name.evaluate((element) => {
      element.textContent = 'Donaudampfschifffahrtsgesellschaftshauptverwaltungsvorstand Süd';
    });
    const bounds = await page.locator('.column').evaluate((column) => column.getBoundingClientRect().right);
    expect(await name.evaluate((span) => span.getBoundingClientRect().right)).toBeLessThanOrEqual(bounds);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  }
});

test('a failure page without a form leaves the focus to the reader', both, async ({ page }) => {
  for (const address of ['/portal/loginfail/ip', '/portal/loginfail/oidc', '/portal/forgottenChangeFailedInfo?3']) {
    await page.goto(address);
    await expect(page.getByRole('main').getByRole('link').first()).toBeVisible();
    expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true);
  }
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

test('a screen change moves title and address, and Back and Forward follow', async ({ page }) => {
  await page.goto('/portal/login');
  await page.getByRole('link', { name: 'Forgot password?' }).click();
  await expect(page).toHaveURL('/portal/forgotten');
  await expect(page).toHaveTitle('Reset your password · Vestibule');
  await page.goBack();
  await expect(page).toHaveTitle('Sign in · Vestibule');
  await page.goForward();
  await expect(page).toHaveTitle('Reset your password · Vestibule');
  await expect(page.getByLabel(texts.email)).toBeVisible();
});

test('the name typed on one form is there on the next', async ({ page }) => {
  await page.goto('/portal/login');
  await signInForm(page).username.fill('ada@acme.test');
  await page.getByRole('link', { name: 'Forgot password?' }).click();
  await expect(page.getByLabel(texts.email)).toHaveValue('ada@acme.test');
  await page.getByRole('link', { name: 'Return to sign-in' }).click();
  await expect(signInForm(page).username).toHaveValue('ada@acme.test');
});
