import type { Page } from '@playwright/test';
import jsqr from 'jsqr';
import { PNG } from 'pngjs';
import { changeUser } from '#server/accounts/users.ts';
import { appCode, wrongAppCodes } from '../support/authenticator-app.ts';
import {
  changeForm,
  codeForm,
  expectSignedIn,
  forgottenForm,
  hashOf,
  heading,
  keyToRegister,
  newPassword,
  recoveryCodes,
  signInForm,
  signOutButton,
} from './forms.ts';
import { appCodeIsPast, onDatabaseOf, recoveryCodesAreHidden, sendWaitIsOver, sessionsEnd } from './portal-database.ts';
import { both, expect, password, test } from './test.ts';
import { texts, textsOf } from './texts.ts';

// What people do, from the first page to the last, with JavaScript and without. Others are beside this file: at a provider
// (single-sign-on), on the account page (account), with a passkey (passkeys).

const follow = (page: Page, name: string) => page.getByRole('main').getByRole('link', { name }).first().click();

/** A page that somebody asks for. Its fragment never reaches a server, so without JavaScript nobody can keep it. */
const deepLink = (isScripted: boolean | undefined) =>
  `/portal/portal.html?tab=2&filter=a%26b${isScripted ? '#/reports/7' : ''}`;

test(
  'SE-15 a wrong password, the right one, the page asked for, and a sign-out that leaves nothing to the next person',
  both,
  async ({ page, context, portal, javaScriptEnabled }) => {
    const asked = deepLink(javaScriptEnabled);
    await page.goto(asked);
    const form = signInForm(page);
    await form.send('ada', 'not the right one');
    await expect(heading(page)).toHaveText(texts['login-fail-default-title']);
    const reference = (await page.getByText(/^[A-Z0-9]{4}-[A-Z0-9]{4}$/).textContent()) as string;
    expect((await portal.run(['explain', reference])).out).toMatch(/password\W+wrong/);
    await expect(form.username).toHaveValue('ada');
    await expect(form.password).toHaveValue('');
    await expect(form.password).toBeFocused();
    await expect(form.password).toHaveAccessibleDescription(texts['login-fail-default-text']);
    await expect(page.locator('.alert')).toHaveCount(1);
    await expect(page.getByRole('link', { name: texts['return-to-login'] })).toHaveCount(0);
    await form.password.fill(password);
    await form.password.press('Enter');
    await expect(page).toHaveURL(asked);
    await expectSignedIn(page, 'ada');

    await page.reload();
    await expectSignedIn(page, 'ada');
    for (const _ of ['the failure', 'the form']) await page.goBack();
    await expectSignedIn(page, 'ada');
    const tab = await context.newPage();
    await tab.goto('/portal/login');
    await expect(tab).toHaveURL('/portal/portal.html');
    await signOutButton(tab).click();
    await expect(tab).toHaveURL('/portal/login');
    // With JavaScript the other tab notices by itself.
    if (!javaScriptEnabled) await page.reload();
    await expect(form.button).toBeVisible();
    await tab.goBack();
    await expect(signInForm(tab).username).toHaveValue('');
    const kept = await tab.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
    expect(kept + (await tab.content())).not.toContain('ada');
    for (const { name, value } of await context.cookies())
      expect([name, Buffer.from(value, 'base64').toString()].join()).not.toMatch(/session|ada/);

    await tab.goto('/portal/login');
    await signInForm(tab).send('bob', password);
    await expect(tab).toHaveURL('/portal/portal.html');
    await expectSignedIn(tab, 'bob');
  },
);

test(
  'a forgotten password: an email, its link in another browser, a refused password, a new one, and signed in',
  both,
  async ({ page, portal, inbox, newPerson, anotherBrowser, javaScriptEnabled }) => {
    const asked = deepLink(javaScriptEnabled);
    const { username, email } = await newPerson();
    await page.goto(asked);
    await page.getByRole('link', { name: texts['login-forgotten'] }).click();
    await forgottenForm(page).send(email);
    await expect(heading(page)).toHaveText(texts['email-info-title']);
    const letter = await inbox.take(email, 'resetLink');
    expect(letter.text + letter.html).not.toContain(password);
    const hash = hashOf(letter.link);

    const { page: other } = await anotherBrowser();
    await other.setContent(letter.html);
    await other.getByRole('link', { name: texts['mail-resetLink-button'] }).click();
    await expect(heading(other)).toHaveText(texts['change-title']);
    // The script takes the secret out of the address.
    if (javaScriptEnabled) await expect.poll(() => other.url()).not.toContain(hash);
    const form = changeForm(other);
    await expect(form.username).toHaveValue(username);
    await form.send(password);
    await expect(heading(other)).toHaveText(texts['change-failed-title']);
    await follow(other, texts['change-failed-choose']);
    await form.send(newPassword);
    await expect(heading(other)).toHaveText(texts['changed-title']);
    await follow(other, texts['return-to-login']);
    await expect(signInForm(other).username).toHaveValue(username);
    await signInForm(other).send(username, newPassword);
    await expect(other).toHaveURL(asked);
    await expectSignedIn(other, username);
    const notice = await inbox.take(email, 'passwordChanged');
    for (const secret of [hash, newPassword]) expect(notice.text + notice.html + portal.log).not.toContain(secret);

    await page.goto(letter.link);
    await expect(heading(page)).toHaveText(texts['changed-title']);
    await follow(page, texts['return-to-login']);
    await expect(signInForm(page).username).toHaveValue(username);
    await signInForm(page).send(username, password);
    await expect(heading(page)).toHaveText(texts['login-fail-default-title']);
  },
);

/** The address in a QR code, read from the screen as by a phone's camera. */
async function scanned(page: Page): Promise<URL> {
  const { data, width, height } = PNG.sync.read(
    await page.getByRole('img', { name: texts['registration-qr'] }).screenshot(),
  );
  const read = jsqr.default(new Uint8ClampedArray(data), width, height, { inversionAttempts: 'dontInvert' });
  if (!read) throw new Error('The QR code on the screen cannot be read');
  return new URL(read.data);
}

test(
  'an app is set up by its QR code, and its code asked for at the next sign-in, on the way to the page asked for',
  both,
  async ({ page, portal, inbox, watch, newPerson, javaScriptEnabled }) => {
    watch.expect(/Two-factor code not verified: wrong/);
    const asked = deepLink(javaScriptEnabled);
    const { username, email } = await newPerson({ customers: ['apps'] });
    await page.goto(asked);
    await signInForm(page).send(username, password);
    await expect(heading(page)).toHaveText(texts['registration-title']);
    const key = await keyToRegister(page);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const { protocol, host, pathname, searchParams } = await scanned(page);
      expect([protocol, host, decodeURIComponent(pathname)]).toEqual(['otpauth:', 'totp', `/Vestibule:${username}`]);
      expect(Object.fromEntries(searchParams)).toEqual({ secret: key, issuer: 'Vestibule' });
    }
    await page.reload();
    expect(await keyToRegister(page)).toBe(key);
    const form = codeForm(page, javaScriptEnabled);
    await form.sendWrong(wrongAppCodes(key, 1)[0] ?? '');
    const used = appCode(key);
    await form.send(used);
    await expect(heading(page)).toHaveText(texts['recovery-codes-title']);
    await expect(recoveryCodes(page)).toHaveCount(10);
    await follow(page, texts.continue);
    await expect(page).toHaveURL(asked);
    await expectSignedIn(page, username);
    await inbox.take(email, 'secondFactorAdded');

    await signOutButton(page).click();
    await expect(page).toHaveURL('/portal/login');
    await page.goto(asked);
    await signInForm(page).send(username, password);
    await expect(heading(page)).toHaveText(texts['twofa-title']);
    await form.sendWrong(used);
    // A busy machine may have taken a step of 30 seconds meanwhile; this code is later than the used one in any case.
    await form.send(appCode(key, 30));
    await expect(page).toHaveURL(asked);
    await expectSignedIn(page, username);
    expect(portal.log).not.toContain(key);
  },
);

test(
  'five wrong codes end a sign-in, and time does; a remembered browser is not asked, until an operator resets it',
  both,
  async ({ page, portal, watch, newPersonWithApp, javaScriptEnabled }) => {
    watch.expect(/status of 401/, /Two-factor code not verified/);
    const asked = deepLink(javaScriptEnabled);
    const { username, key } = await newPersonWithApp();
    const form = codeForm(page, javaScriptEnabled);
    await page.goto(asked);
    await signInForm(page).send(username, password);
    const [last = '', ...first] = wrongAppCodes(key, 5);
    for (const code of first) await form.sendWrong(code);
    await form.send(last);
    await expect(page.getByText(texts['notice-tooManyCodes-title'])).toBeVisible();
    if (javaScriptEnabled) await follow(page, texts['sign-in-again']);
    await expect(signInForm(page).username).toHaveValue(username);

    await signInForm(page).send(username, password);
    await expect(heading(page)).toHaveText(texts['twofa-title']);
    await sessionsEnd(portal, username);
    await form.send(appCode(key));
    await expect(page.getByText(texts['notice-signInExpired-text'])).toBeVisible();
    if (javaScriptEnabled) await follow(page, texts['sign-in-again']);
    await expect(signInForm(page).username).toHaveValue(username);
    await appCodeIsPast(portal, username);
    await signInForm(page).send(username, password);
    await form.remember.check();
    await form.send(appCode(key));
    await expect(page).toHaveURL(asked);
    await expectSignedIn(page, username);

    await signOutButton(page).click();
    await signInForm(page).send(username, password);
    await expectSignedIn(page, username);
    await signOutButton(page).click();
    await portal.mustRun(['user', 'reset-two-factor', username, '--yes']);
    await signInForm(page).send(username, password);
    await expect(heading(page)).toHaveText(texts['registration-title']);
  },
);

test(
  'a recovery code works once, in place of the app, and the number left is shown',
  both,
  async ({ page, portal, watch, newPersonWithApp, javaScriptEnabled }) => {
    watch.expect(/Two-factor code not verified: wrong/);
    const asked = deepLink(javaScriptEnabled);
    const { username, recoveryCodes: codes } = await newPersonWithApp();
    await recoveryCodesAreHidden(portal, username);
    const [first = ''] = codes;
    const field = page.getByLabel(texts['recovery-code']);
    const begin = async () => {
      await page.goto(asked);
      await signInForm(page).send(username, password);
      await follow(page, texts['twofa-use-recovery']);
      await expect(field).toBeFocused();
    };
    await begin();
    await field.fill('7K2M-Q4XD');
    await page.getByRole('button', { name: texts['twofa-verify'] }).click();
    await expect(page.getByText(texts['recovery-malformed'])).toBeVisible();
    // As people type it: in lower case, without dashes.
    await field.fill(first.toLowerCase().replaceAll('-', ' '));
    await page.getByRole('button', { name: texts['twofa-verify'] }).click();
    await expect(page.getByText('Unused codes left 9')).toBeVisible();
    await follow(page, texts.continue);
    await expect(page).toHaveURL(asked);
    await signOutButton(page).click();

    await expect(page).toHaveURL('/portal/login');
    await begin();
    await field.fill(first);
    await page.getByRole('button', { name: texts['twofa-verify'] }).click();
    await expect(page.getByText(texts['recovery-wrong'])).toBeVisible();
  },
);

test(
  'an emailed code: one email however often the page is reloaded, another on demand, a wrong code and the right one',
  both,
  async ({ page, portal, inbox, watch, newPerson, javaScriptEnabled }) => {
    watch.expect(/Two-factor code not verified: wrong/);
    const asked = deepLink(javaScriptEnabled);
    const { username, email } = await newPerson({ customers: ['mails'] });
    const form = codeForm(page, javaScriptEnabled);
    await page.goto(asked);
    await signInForm(page).send(username, password);
    await expect(page.getByText(texts['registration-email-text'])).toBeVisible();
    const letter = await inbox.take(email, 'signInCode');
    expect(letter.text.trimEnd().split('\n').at(-1)).toMatch(/^@localhost #\d{6}$/);
    expect(letter.subject).not.toContain(letter.code);
    await page.reload();
    await page.goBack();
    await page.goForward();
    await expect(page.getByText(texts['registration-email-text'])).toBeVisible();
    if (javaScriptEnabled)
      await expect(page.getByRole('button', { name: /^Send again in \d+\sseconds?$/ })).toBeDisabled();
    await sendWaitIsOver(portal, username);
    await page.reload();
    await page.getByRole('button', { name: texts['twofa-send'] }).click();
    await expect(page.getByText(`${texts['notice-codeSent-title']}.`, { exact: true })).toBeVisible();
    const { code } = await inbox.take(email, 'signInCode');
    await form.sendWrong(letter.code, texts['twofa-email-wrong']);
    await form.send(code);
    await expect(page).toHaveURL(asked);
    await expectSignedIn(page, username);
    expect(inbox.count(email, 'signInCode')).toBe(2);
    expect(portal.log).not.toContain(code);
  },
);

test(
  'an invitation: an email, its link, a password, signed in, and the link used up',
  both,
  async ({ page, portal, inbox, newPerson, javaScriptEnabled }) => {
    const { username, email } = await newPerson();
    await onDatabaseOf(portal, (sql) =>
      changeUser(sql, username, { passwordHash: null }, { actor: 'os:alice', now: new Date() }),
    );
    expect(await portal.mustRun(['user', 'invite', email])).toContain('its link works once');
    const { link } = await inbox.take(email, 'invitation');
    await page.goto(link);
    await expect(heading(page)).toHaveText(texts['invitation-title']);
    if (javaScriptEnabled) await expect(page).toHaveURL('/portal/forgottenChange?invited=true&lang=en');
    await page.reload();
    await expect(changeForm(page).hash).toHaveValue(hashOf(link));
    await page.getByLabel(texts['invitation-password'], { exact: true }).fill(newPassword);
    await page.getByLabel(texts['invitation-repeat'], { exact: true }).fill(newPassword);
    await page.getByRole('button', { name: texts['invitation-button'] }).click();
    await expectSignedIn(page, username);
    await page.goto(link);
    await expect(heading(page)).toHaveText(texts['changed-title']);
  },
);

test(
  'from a network that is not approved, a right password gets an explanation and a wrong one does not',
  both,
  async ({ page }) => {
    await page.goto('/portal/login');
    await signInForm(page).send('fen', password);
    await expect(page).toHaveURL('/portal/loginfail/ip?ipaddress=127.0.0.1');
    await expect(heading(page)).toHaveText(texts['login-fail-ip-title']);
    await expect(page.getByText('Your address 127.0.0.1')).toBeVisible();
    await follow(page, texts['return-to-login']);
    await signInForm(page).send('fen', 'wrong');
    await expect(heading(page)).toHaveText(texts['login-fail-default-title']);
    await page.goto('/portal/portal.html');
    await expect(page).toHaveURL('/portal/');
  },
);

test(
  'another language from the menu goes along: what was typed, a failed attempt, the code, the hub and the sign-out',
  both,
  async ({ page, newPersonWithApp, javaScriptEnabled }) => {
    const italian = textsOf('it');
    const { username, key } = await newPersonWithApp();
    await page.goto('/portal/login');
    if (javaScriptEnabled) await signInForm(page).username.fill(username);
    await page.getByLabel(texts.language).selectOption('it');
    if (!javaScriptEnabled) await page.getByRole('button', { name: texts['language-apply'] }).click();
    await expect(page.locator('html')).toHaveAttribute('lang', 'it');
    const name = page.getByLabel(italian['login-username']);
    if (javaScriptEnabled) await expect(name).toHaveValue(username);
    for (const secret of ['sbagliata', password]) {
      await name.fill(username);
      await page.getByLabel(italian['login-password'], { exact: true }).fill(secret);
      await page.getByRole('button', { name: italian['login-button'], exact: true }).click();
      if (secret === password) break;
      await expect(heading(page)).toHaveText(italian['login-fail-default-title']);
    }
    await expect(heading(page)).toHaveText(italian['twofa-title']);
    await codeForm(page, javaScriptEnabled, 'it').send(appCode(key));
    await expect(heading(page)).toHaveText(italian['signed-in-title']);
    await expect(page).toHaveURL('/portal/portal.html?lang=it');
    await page.getByRole('button', { name: italian['sign-out-button'] }).click();
    await expect(page).toHaveURL('/portal/login?lang=it');
    await expect(heading(page)).toHaveText(italian['login-title']);
  },
);

test('an old address and a wrong destination lead on', both, async ({ page, watch, javaScriptEnabled }) => {
  await page.goto('/portal/loginfailIP?ipaddress=1.2.3.4&lang=de');
  await expect(page).toHaveURL('/portal/loginfail/ip?ipaddress=1.2.3.4&lang=de');
  await page.goto(`/portal/login?${new URLSearchParams({ destination: 'https://evil.example/' })}`);
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html');
  if (!javaScriptEnabled) return;
  // The page of an old hub, which is not here.
  watch.expect(/404/);
  await page.context().clearCookies();
  await page.goto('/portal/#/login?redirectURL=%2Fwebbundle%2Fa');
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/webbundle/a');
});

test(
  'SE-15 a form that was open over another sign-in and sign-out signs in; without JavaScript nothing of it is lost',
  both,
  async ({ page, context, javaScriptEnabled }) => {
    const asked = deepLink(javaScriptEnabled);
    await page.goto(asked);
    const form = signInForm(page);
    await form.username.fill('bob');
    const tab = await context.newPage();
    await tab.goto('/portal/login');
    await signInForm(tab).send('ada', password);
    await signOutButton(tab).click();
    await expect(signInForm(tab).button).toBeVisible();
    // With JavaScript the sign-out has reached the form, which forgets where it was to lead.
    if (javaScriptEnabled) await expect(form.username).toHaveValue('');
    else await expect(form.username).toHaveValue('bob');
    if (javaScriptEnabled) await form.username.fill('bob');
    await form.password.fill('not the right one');
    await form.password.press('Enter');
    await expect(page).toHaveURL(/loginfail/);
    await expect(form.username).toHaveValue('bob');
    await form.password.fill(password);
    await form.password.press('Enter');
    await expect(page).toHaveURL(javaScriptEnabled ? '/portal/portal.html' : asked);
    await expectSignedIn(page, 'bob');
  },
);
