import { expect, type Locator, type Page, test } from '@playwright/test';
import type { Language } from '#contract/languages.ts';
import type { MailInbox } from './mail-inbox.ts';
import type { PortalUnderTest } from './portal-under-test.ts';
import { texts, textsOf } from './texts.ts';

export const heading = (page: Page) => page.getByRole('heading', { level: 1 });

/** The sign-in form in English, as users find it. */
export function signInForm(page: Page) {
  const username = page.getByLabel(texts['login-username']);
  const password = page.getByLabel('Password', { exact: true });
  const button = page.getByRole('button', { name: 'Sign in', exact: true });
  return {
    username,
    password,
    button,
    async fill(name: string, secret: string): Promise<void> {
      await username.fill(name);
      await password.fill(secret);
    },
    async send(name: string, secret: string): Promise<void> {
      await this.fill(name, secret);
      await button.click();
    },
  };
}

/** Signs in from the sign-in form and waits until the hub's page says so. */
export async function signIn(page: Page, name: string, secret: string): Promise<void> {
  await page.goto('/portal/login');
  await signInForm(page).send(name, secret);
  await expectSignedIn(page, name);
}

/** The hub's page says who is signed in. */
export async function expectSignedIn(page: Page, username: string): Promise<void> {
  await expect(page.getByRole('heading', { name: 'You’re signed in' })).toBeVisible();
  await expect(page.getByText(`Username ${username}`, { exact: true })).toBeVisible();
}

export const signOutButton = (page: Page) => page.getByRole('button', { name: 'Sign out' });

/** Presses Tab until something has the focus, up to a limit. */
export async function tabTo(page: Page, stop: Locator, most: number, key = 'Tab'): Promise<void> {
  // A page that is still loading would swallow the keys.
  await expect(stop).toBeVisible();
  for (let stops = 0; stops < most; stops += 1) {
    await page.keyboard.press(key);
    if (await stop.evaluate((element) => element === document.activeElement)) return;
  }
  await expect(stop).toBeFocused();
}

/** Keeps the browser from posting any form, so that the page can be inspected meanwhile. */
export async function keepHere(page: Page): Promise<void> {
  await page.evaluate(() => addEventListener('submit', (event) => event.preventDefault(), { once: true }));
}

/** Holds a page's requests for these URLs until the returned function is called. */
export async function holdRequests(page: Page, url: string | RegExp): Promise<() => void> {
  const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    await isLetGo;
    await route.continue();
  });
  return letGo;
}

/** Waits until React has taken over the language menu, which every screen has; on a busy machine that takes a while. */
export async function isScripted(page: Page): Promise<void> {
  await page.waitForFunction(
    () => Object.keys(document.querySelector('#lang') ?? {}).some((key) => key.startsWith('__react')),
    null,
    { timeout: 20_000 },
  );
}

/** The form for the six digits, as users find it: six boxes, or one plain field without JavaScript. */
export function codeForm(page: Page, isScripted = true, language: Language = 'en') {
  const texts = textsOf(language);
  const box = (position: number) =>
    page.getByLabel(texts['code-digit'].replace('{position}', String(position)).replace('{length}', '6'));
  const field = isScripted ? box(1) : page.getByLabel(texts.code, { exact: true });
  const button = page.getByRole('button', { name: texts['twofa-verify'], exact: true });
  return {
    box,
    field,
    button,
    remember: page.getByLabel(texts['twofa-remember']),
    /** Types a code; boxes submit it automatically. */
    async send(code: string): Promise<void> {
      await field.click();
      if (isScripted) return await page.keyboard.type(code);
      await field.fill(code);
      await button.click();
    },
    /** Sends a code that is refused, and waits for the message. */
    async sendWrong(code: string, message = texts['twofa-error-try-again-with-code']): Promise<void> {
      const answered = isScripted ? page.waitForResponse('**/verify') : page.waitForEvent('load');
      await this.send(code);
      await answered;
      await expect(page.getByRole('main').getByText(message)).toBeVisible();
      await expect(field).toHaveValue('');
      if (isScripted) await expect(field).toBeFocused();
    },
  };
}

/** The displayed key of the app to register, in groups of four. */
const shownKey = (page: Page) => page.locator('.secret');

/** The same key as apps accept it. */
export async function keyToRegister(page: Page): Promise<string> {
  return (await shownKey(page).innerText()).replace(/\s/g, '');
}

export const recoveryCodes = (page: Page) => page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');

/** A password that satisfies every rule. */
export const newPassword = 'Harbour-Lantern-77';

/** The form that sends a link, as users find it. */
export function forgottenForm(page: Page, language: Language = 'en') {
  const texts = textsOf(language);
  const email = page.getByLabel(texts.email);
  const button = page.getByRole('button', { name: texts['forgotten-button'] });
  return {
    email,
    button,
    async send(address: string): Promise<void> {
      await email.fill(address);
      await button.click();
    },
  };
}

/** The form for a new password, as users find it. */
export function changeForm(page: Page, language: Language = 'en') {
  const texts = textsOf(language);
  const password = page.getByLabel(texts['change-password'], { exact: true });
  const repeat = page.getByLabel(texts['change-repeat'], { exact: true });
  const button = page.getByRole('button', { name: texts['change-button'] });
  return {
    password,
    repeat,
    button,
    /** The hidden field of the form. */
    hash: page.getByRole('main').locator('input[name=hash]').first(),
    /** What tells a password manager whose password it is. */
    username: page.getByRole('main').locator('input[autocomplete=username]'),
    async fill(first: string, second = first): Promise<void> {
      await password.fill(first);
      await repeat.fill(second);
    },
    async send(first: string, second = first): Promise<void> {
      await this.fill(first, second);
      await button.click();
    },
  };
}

/** Requests a link for an address and returns it from the email. */
export async function linkFor({ portal, inbox }: Mailing, email: string): Promise<string> {
  const answer = await fetch(`${portal.origin}/portal/password/forgotten`, {
    method: 'POST',
    body: new URLSearchParams({ username: email }),
    headers: { origin: portal.origin },
  });
  expect(answer.status).toBe(204);
  return (await inbox.take(email, 'resetLink')).link;
}

type Mailing = { portal: PortalUnderTest; inbox: MailInbox };

/** The secret in a link. */
export function hashOf(link: string): string {
  const hash = new URL(link).searchParams.get('hash');
  if (!hash) throw new Error(`no hash in ${link}`);
  return hash;
}

export const ssoButton = (page: Page) => page.getByRole('button', { name: texts['login-sso'] });

/** The form that asks for an address. */
export function ssoForm(page: Page) {
  const email = page.getByLabel(texts.email);
  const button = page.getByRole('button', { name: texts['sso-button'] });
  return {
    email,
    button,
    async send(address: string): Promise<void> {
      await email.fill(address);
      await button.click();
    },
  };
}

/** The page of a provider in these tests. */
export function atProvider(page: Page) {
  const email = page.getByLabel('Email', { exact: true });
  return {
    email,
    signIn: () => page.getByRole('button', { name: 'Sign in' }).click(),
    cancel: () => page.getByRole('link', { name: 'Cancel' }).click(),
  };
}

/**
 * A SAML provider's page with the answer, and ours that posts it to our own origin, post themselves with JavaScript, and have
 * a button without.
 */
export async function pressOn(page: Page): Promise<void> {
  if (test.info().project.use.javaScriptEnabled !== false) return;
  for (const name of ['Submit', texts.continue]) await page.getByRole('button', { name, exact: true }).last().click();
}

/** Expects the page of a failed single sign-on; returns its reference. */
export async function expectFailure(page: Page, type: 'oidc' | 'saml' = 'oidc'): Promise<string> {
  await expect(page).toHaveURL(new RegExp(`/loginfail/${type}`));
  const reference = page.getByText(/[0-9A-Z]{4}-[0-9A-Z]{4}/);
  await expect(reference).toBeVisible();
  return /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(await reference.innerText())?.[0] ?? '';
}
