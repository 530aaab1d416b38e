import { expect, type Page } from '@playwright/test';
import { appCode } from './authenticator-app.ts';
import { codeForm, keyToRegister } from './code-form.ts';
import { PlainBrowser } from './plain-browser.ts';
import { changeForm, forgottenForm, linkFor, newPassword } from './reset-forms.ts';
import { expectSignedIn, signInForm, signOutButton } from './sign-in-form.ts';
import { ssoForm } from './single-sign-on-form.ts';
import type { Stage } from './stages.ts';
import { password, type World } from './test.ts';
import { type MessageKey, textsOf } from './texts.ts';

const texts = textsOf('en');

/** What a person does next on a screen, and where that leads. */
export type NextStep = {
  address: string;
  /** Enters what the screen asks for. Six boxes send themselves once the last one is filled in. */
  fill?: (page: Page, isScripted: boolean) => Promise<void>;
  /** What of it is still there after a post that failed; browsers keep no passwords. */
  keeps?: (page: Page) => Promise<void>;
  press: (page: Page, isScripted: boolean) => Promise<void>;
  arrives: (page: Page) => Promise<void>;
};

/**
 * A form posts to a call: by the browser itself, or by the script, which then can tell of a failure. `again`: the heading
 * that it leads to if another tab went first.
 */
export type Form = { call: string; by: 'browser' | 'script'; again: MessageKey };

export type ScreenWithNextStep = {
  /** In words, for the table. */
  name: string;
  heading: MessageKey;
  /** If the browser must hold a cookie to see it. */
  needsCookie?: true;
  /** If the next step is a form. */
  form?: Form;
  /** Brings the browser to where the screen is shown. */
  reach: (world: World) => Promise<NextStep>;
};

const arrivesAt = (heading: MessageKey) => async (page: Page) =>
  await expect(page.getByRole('heading', { level: 1 })).toContainText(texts[heading]);

const pressLink = (name: MessageKey) => (page: Page) =>
  page.getByRole('main').getByRole('link', { name: texts[name] }).click();
const pressButton = (name: string) => (page: Page) => page.getByRole('main').getByRole('button', { name }).click();

/** A screen whose next step is a link. */
function linked(
  { name, heading, stage }: { name: string; heading: MessageKey; stage?: Stage },
  address: string,
  link: MessageKey,
  to: MessageKey,
): ScreenWithNextStep {
  return {
    name,
    heading,
    ...(stage && { needsCookie: true }),
    async reach({ context, stages }: World) {
      if (stage) await stages.enter(context, stage);
      return { address, press: pressLink(link), arrives: arrivesAt(to) };
    },
  };
}

function signsIn(name: string, heading: MessageKey, address: string): ScreenWithNextStep {
  return {
    name,
    heading,
    form: { call: 'performlogin', by: 'browser', again: 'signed-in-title' },
    reach: async () => ({
      address,
      fill: (page) => signInForm(page).fill('ada', password),
      keeps: async (page) => await expect(signInForm(page).username).toHaveValue('ada'),
      press: (page) => signInForm(page).button.click(),
      arrives: (page) => expectSignedIn(page, 'ada'),
    }),
  };
}

const verify = {
  call: 'two-factor-authentication/verify',
  by: 'script',
  again: 'notice-signInExpired-title',
} as const;
/** Boxes send themselves when the last one is filled in. */
const pressVerify = async (page: Page, isScripted: boolean) => {
  if (!isScripted) await codeForm(page).button.click();
};

const sixDigitsStay = async (page: Page) => await expect(page.locator('input[name=code]')).toHaveValue(/^\d{6}$/);

async function fillCode(page: Page, isScripted: boolean, code: string): Promise<void> {
  const { field } = codeForm(page, isScripted);
  if (!isScripted) return await field.fill(code);
  await field.click();
  await page.keyboard.type(code);
}

/** Every screen that a person may be on, once, with what they do there. */
export const screensWithNextStep: readonly ScreenWithNextStep[] = [
  signsIn('sign-in form', 'login-title', '/portal/login'),
  signsIn('wrong password', 'login-fail-default-title', '/portal/loginfail/default'),
  linked(
    { name: 'failed single sign-on (OpenID Connect)', heading: 'login-fail-oidc-title' },
    '/portal/loginfail/oidc',
    'return-to-login',
    'login-title',
  ),
  linked(
    { name: 'failed single sign-on (SAML)', heading: 'login-fail-saml-title' },
    '/portal/loginfail/saml',
    'return-to-login',
    'login-title',
  ),
  linked(
    { name: 'wrong network', heading: 'login-fail-ip-title' },
    '/portal/loginfail/ip',
    'return-to-login',
    'login-title',
  ),
  {
    name: 'forgotten password',
    heading: 'forgotten-title',
    form: { call: 'password/forgotten', by: 'script', again: 'email-info-title' },
    async reach({ newPerson }) {
      const { email } = await newPerson();
      return {
        address: '/portal/forgotten',
        fill: (page) => forgottenForm(page).email.fill(email),
        keeps: async (page) => await expect(forgottenForm(page).email).toHaveValue(email),
        press: (page) => forgottenForm(page).button.click(),
        arrives: arrivesAt('email-info-title'),
      };
    },
  },
  linked(
    { name: 'link on its way', heading: 'email-info-title' },
    '/portal/emailInfo',
    'return-to-login',
    'login-title',
  ),
  {
    name: 'new password',
    heading: 'change-title',
    form: { call: 'password/change', by: 'browser', again: 'change-failed-title' },
    async reach({ newPerson, portal, inbox }) {
      const { email } = await newPerson();
      return {
        address: await linkFor({ portal, inbox }, email),
        fill: (page) => changeForm(page).fill(newPassword),
        press: (page) => changeForm(page).button.click(),
        arrives: arrivesAt('changed-title'),
      };
    },
  },
  linked(
    { name: 'password changed', heading: 'changed-title' },
    '/portal/forgottenChangedInfo',
    'return-to-login',
    'login-title',
  ),
  linked(
    { name: 'password not changed', heading: 'change-failed-title' },
    '/portal/forgottenChangeFailedInfo?3',
    'change-failed-new-link',
    'forgotten-title',
  ),
  {
    name: 'code of the app',
    heading: 'twofa-title',
    needsCookie: true,
    form: verify,
    async reach({ context, portal, newPersonWithApp }) {
      const { username, key } = await newPersonWithApp();
      await context.addCookies([(await PlainBrowser.signIn(portal, username, password)).cookie]);
      return {
        address: '/portal/twoFactor',
        fill: (page, isScripted) => fillCode(page, isScripted, appCode(key)),
        keeps: sixDigitsStay,
        press: pressVerify,
        arrives: (page) => expectSignedIn(page, username),
      };
    },
  },
  {
    name: 'recovery code',
    heading: 'recovery-title',
    needsCookie: true,
    form: verify,
    async reach({ context, portal, newPersonWithApp }) {
      const { username, recoveryCodes } = await newPersonWithApp();
      await context.addCookies([(await PlainBrowser.signIn(portal, username, password)).cookie]);
      return {
        address: '/portal/twoFactor?recovery=true',
        fill: (page) => page.getByLabel(texts['recovery-code']).fill(recoveryCodes[0] ?? ''),
        keeps: async (page) =>
          await expect(page.getByLabel(texts['recovery-code'])).toHaveValue(recoveryCodes[0] ?? ''),
        press: (page) => codeForm(page).button.click(),
        arrives: async (page) => await expect(page).toHaveURL(/\/portal\.html|recovery-codes/),
      };
    },
  },
  {
    name: 'code by email',
    heading: 'twofa-email-title',
    needsCookie: true,
    form: verify,
    async reach({ context, portal, inbox, newPerson }) {
      const { username, email } = await newPerson({ customers: ['mails'] });
      await (await PlainBrowser.signIn(portal, username, password)).registerEmail(inbox, email);
      await context.addCookies([(await PlainBrowser.signIn(portal, username, password)).cookie]);
      const { code } = await inbox.take(email, 'signInCode');
      return {
        address: '/portal/twoFactor?codeSentViaEmail=true',
        fill: (page, isScripted) => fillCode(page, isScripted, code),
        keeps: sixDigitsStay,
        press: pressVerify,
        arrives: (page) => expectSignedIn(page, username),
      };
    },
  },
  {
    name: 'setting up an app',
    heading: 'registration-title',
    needsCookie: true,
    form: verify,
    async reach({ context, portal, newPerson }) {
      const { username } = await newPerson({ customers: ['apps'] });
      await context.addCookies([(await PlainBrowser.signIn(portal, username, password)).cookie]);
      return {
        address: '/portal/twoFactorRegistration',
        fill: async (page, isScripted) => await fillCode(page, isScripted, appCode(await keyToRegister(page))),
        keeps: sixDigitsStay,
        press: pressVerify,
        arrives: arrivesAt('recovery-codes-title'),
      };
    },
  },
  {
    name: 'confirming the email',
    heading: 'registration-email-title',
    needsCookie: true,
    form: verify,
    async reach({ context, portal, inbox, newPerson }) {
      const { username, email } = await newPerson({ customers: ['mails'] });
      await context.addCookies([(await PlainBrowser.signIn(portal, username, password)).cookie]);
      const { code } = await inbox.take(email, 'signInCode');
      return {
        address: '/portal/twoFactorRegistration?codeSentViaEmail=true',
        fill: (page, isScripted) => fillCode(page, isScripted, code),
        keeps: sixDigitsStay,
        press: pressVerify,
        arrives: (page) => expectSignedIn(page, username),
      };
    },
  },
  linked(
    { name: 'recovery codes shown', heading: 'recovery-codes-title', stage: 'recovery codes' },
    '/portal/two-factor-authentication/recovery-codes',
    'continue',
    'signed-in-title',
  ),
  {
    name: 'sign-in too old',
    heading: 'once-more-title',
    needsCookie: true,
    form: { call: 'logout', by: 'browser', again: 'login-title' },
    async reach({ context, stages }) {
      await stages.enter(context, 'old');
      return {
        address: '/portal/twoFactorRegistration?redirectURL=%2Fportal%2Fx',
        press: pressButton(texts['once-more-button']),
        arrives: arrivesAt('login-title'),
      };
    },
  },
  {
    name: 'app elsewhere',
    heading: 'register-elsewhere-title',
    needsCookie: true,
    form: { call: 'logout', by: 'browser', again: 'login-title' },
    async reach({ context, stages }) {
      await stages.enter(context, 'elsewhere');
      return {
        address: '/portal/twoFactorRegistration?redirectURL=%2Fx',
        press: pressButton(texts['once-more-button']),
        arrives: arrivesAt('login-title'),
      };
    },
  },
  {
    name: 'single sign-on',
    heading: 'sso-title',
    form: { call: 'authenticate/performSsoLogin', by: 'browser', again: 'login-fail-oidc-title' },
    reach: async () => ({
      address: '/portal/singleSignOn',
      fill: (page) => ssoForm(page).email.fill('ada@nobody.test'),
      keeps: async (page) => await expect(ssoForm(page).email).toHaveValue('ada@nobody.test'),
      press: (page) => ssoForm(page).button.click(),
      arrives: arrivesAt('login-fail-oidc-title'),
    }),
  },
  {
    name: 'signed in',
    heading: 'signed-in-title',
    needsCookie: true,
    form: { call: 'logout', by: 'browser', again: 'login-title' },
    async reach({ context, portal, newPerson }) {
      const { username } = await newPerson();
      await context.addCookies([(await PlainBrowser.signIn(portal, username, password)).cookie]);
      return {
        address: '/portal/portal.html',
        press: (page) => signOutButton(page).click(),
        arrives: arrivesAt('login-title'),
      };
    },
  },
  linked({ name: 'no page', heading: 'not-found-title' }, '/portal/no/such/page', 'return-to-login', 'login-title'),
];
