import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { appCode, wrongAppCodes } from './authenticator-app.ts';
import { codeForm, keyToRegister, recoveryCodes, shownKey } from './code-form.ts';
import { expectSignedIn, signIn, signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';
import { renameTo, signInIsOld } from './time-passed.ts';

const texts = textsOf('en');
const heading = (page: Page) => page.getByRole('heading', { level: 1 });
const asked = '/portal/portal.html?tab=2&filter=a%26b';
const app = { customers: ['apps'] };

test.beforeEach(({ watch }) => watch.expect(/Two-factor code not verified: wrong/));

/** Signs in on the open form, as far as the password leads. */
async function givePassword(page: Page, username: string): Promise<void> {
  await signInForm(page).send(username, password);
  await expect(heading(page)).toHaveText('Enter your code');
}

/** The one way on once the sign-in has ended: it stays on the page, which asks for no code any more, until taken. */
async function signInAgain(page: Page, notice: 'tooManyCodes' | 'signInExpired'): Promise<void> {
  const title = texts[`notice-${notice}-title`];
  await expect(heading(page)).toHaveText(title);
  await expect(heading(page)).toBeFocused();
  await expect(page).toHaveTitle(`${title} · Vestibule`);
  await expect(page.getByRole('alert')).toHaveText(texts[`notice-${notice}-text`]);
  await expect(page.getByText(texts['twofa-text'])).toHaveCount(0);
  await expect(codeForm(page).field).toHaveCount(0);
  const button = page.getByRole('main').getByRole('link', { name: texts['sign-in-again'] });
  const bottom = await page.getByRole('alert').evaluate((alert) => alert.getBoundingClientRect().bottom);
  const top = await button.evaluate((link) => link.getBoundingClientRect().top);
  expect(top - bottom, 'the gap above the button').toBeGreaterThanOrEqual(16);
  await button.click();
}

test('SE-09 recovery codes that the browser kept are not shown once more after the session has ended elsewhere', async ({
  page,
  portal,
  newPerson,
}) => {
  const { username } = await newPerson(app);
  await page.goto('/portal/login');
  await signInForm(page).send(username, password);
  await codeForm(page).send(appCode(await keyToRegister(page)));
  await expect(recoveryCodes(page)).toHaveCount(10);
  expect((await portal.runProcess(['user', 'sign-out', username])).code).toBe(0);
  // Back from another site, as Chromium does it for three minutes; Playwright switches that off.
  await page.evaluate(() => void dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
  await expect(heading(page)).toHaveText(texts['login-title']);
  await expect(recoveryCodes(page)).toHaveCount(0);
});

test('recovery codes are copied, saved as a file and printed', async ({ page, context, stages }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.addInitScript(() => {
    window.print = () => void document.documentElement.setAttribute('data-printed', '');
  });
  await stages.enter(context, 'recovery codes');
  await page.goto('/portal/two-factor-authentication/recovery-codes');
  const codes = await recoveryCodes(page).allInnerTexts();
  expect(new Set(codes).size).toBe(10);

  await page.getByRole('button', { name: 'Copy' }).click();
  await expect(page.getByRole('status')).toHaveText('Copied');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(codes.join('\n'));

  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: texts.download }).click();
  const file = await saved;
  expect(file.suggestedFilename()).toBe('Vestibule – Recovery codes.txt');
  const content = readFileSync(await file.path(), 'utf8');
  expect(content).toContain('at-recovery-codes');
  expect(content).toContain(codes.join('\n'));

  await page.getByRole('button', { name: texts.print }).click();
  await expect(page.locator('html')).toHaveAttribute('data-printed');
  await page.emulateMedia({ media: 'print' });
  for (const code of codes) await expect(page.getByText(code)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Copy' })).toBeHidden();
});

for (const [what, flag] of [
  ['the code', 'app'],
  ['the registration', 'new app'],
] as const) {
  test(`giving up ${what} leads to the sign-in form with the requested page, and nothing stays open`, async ({
    page,
    context,
    stages,
    javaScriptEnabled,
  }) => {
    await stages.enter(context, flag);
    const isFetched = flag === 'new app' && javaScriptEnabled;
    const fetched = isFetched && page.waitForResponse((answer) => answer.url().endsWith('/registration'));
    await page.goto(asked);
    // Leaving before the key has loaded would leave its request unanswered, or refused.
    await fetched;
    const way = page.getByRole('link', { name: flag === 'app' ? texts['twofa-change-user'] : texts.cancel });
    await expect(way).toBeVisible();
    await way.click();
    await expect(heading(page)).toHaveText('Sign in');
    expect(new URL(page.url()).pathname).toBe('/portal/login');
    await page.goto('/portal/twoFactor');
    await expect(heading(page)).toHaveText('Sign in');
    await expect(page.getByText(texts['notice-signInExpired-text'])).toHaveCount(0);
    // “Not you” leads to an empty form; who cancels a registration is the same person.
    const name = signInForm(page).username;
    if (flag === 'app') await expect(name).toHaveValue('');
    else await expect(name).toHaveValue(/./);
    await page.goBack();
    await signInForm(page).send('ada', password);
    await expect(page).toHaveURL(asked);
    await expectSignedIn(page, 'ada');
  });
}

test('an optional app can be skipped on the way to the requested page, still signed in', async ({
  page,
  newPerson,
  javaScriptEnabled,
}) => {
  const { username } = await newPerson();
  const place = asked + (javaScriptEnabled ? '#/reports/7' : '');
  await signIn(page, username, password);
  const registration = `/portal/twoFactorRegistration?${new URLSearchParams({ redirectURL: place })}`;
  await page.goto(registration);
  const key = await keyToRegister(page);
  const form = codeForm(page, javaScriptEnabled);
  await form.sendWrong(wrongAppCodes(key, 1)[0] ?? '');
  expect(await keyToRegister(page)).toBe(key);
  await page.getByRole('link', { name: texts.cancel }).click();
  await expect(page).toHaveURL(place);
  await expectSignedIn(page, username);

  await page.goto(registration);
  await form.send(appCode(await keyToRegister(page)));
  await expect(heading(page)).toHaveText('Keep these codes safe');
  await page.getByRole('link', { name: 'Continue' }).click();
  await expect(page).toHaveURL(place);
  await expectSignedIn(page, username);
});

test('a sign-in too old to set up an app says so, at whatever step, and leads back to it', async ({
  page,
  portal,
  watch,
  newPerson,
  javaScriptEnabled,
}) => {
  watch.expect(/status of 409/, /not verified: signInTooOld/);
  const { username } = await newPerson();
  const place = asked + (javaScriptEnabled ? '#/reports/7' : '');
  const registration = `/portal/twoFactorRegistration?${new URLSearchParams({ redirectURL: place })}`;
  await signIn(page, username, password);
  await page.goto(registration);
  const key = await keyToRegister(page);
  await signInIsOld(portal, username);
  await codeForm(page, javaScriptEnabled).send(appCode(key));
  await expect(page.getByText(texts['once-more-title'])).toBeVisible();
  if (javaScriptEnabled) {
    // It stays where it happened, and the page that says so at once is the same address again.
    await expect(page.getByRole('button', { name: texts['once-more-button'] })).toBeEnabled();
    await page.reload();
  }
  await expect(heading(page)).toHaveText(texts['once-more-title']);
  await page.getByRole('link', { name: texts.cancel }).click();
  await expect(page).toHaveURL(place);
  await expectSignedIn(page, username);

  await page.goto(registration);
  await expect(heading(page)).toHaveText(texts['once-more-title']);
  await page.getByRole('button', { name: texts['once-more-button'] }).click();
  await expect(heading(page)).toHaveText('Sign in');
  await expect(signInForm(page).username).toHaveValue(username);
  await signInForm(page).send(username, password);
  await expect(heading(page)).toHaveText('Set up two‑step verification');
  await codeForm(page, javaScriptEnabled).send(appCode(await keyToRegister(page)));
  await expect(heading(page)).toHaveText('Keep these codes safe');
  await page.getByRole('link', { name: 'Continue' }).click();
  await expect(page).toHaveURL(place);
  await expectSignedIn(page, username);
});

test('without JavaScript an incomplete code gets an explanation, and the box stays ticked', {
  tag: '@without-script-only',
}, async ({ page, context, stages }) => {
  await stages.enter(context, 'app');
  await page.goto('/portal/twoFactor');
  await expect(page.getByText('at-app')).toBeVisible();
  const form = codeForm(page, false);
  await form.remember.check();
  await form.sendWrong('123', texts['twofa-malformed']);
  await expect(form.remember).toBeChecked();
  await page.getByRole('link', { name: texts['twofa-use-recovery'] }).click();
  await page.getByLabel(texts['recovery-code']).fill('7K2M-Q4XD');
  await form.button.click();
  await expect(page.getByText(texts['recovery-malformed'])).toBeVisible();
});

test('giving up that fails says so and still offers a way on', async ({ page, context, watch, stages }) => {
  watch.expect(/twofa-something-went-wrong/, /net::ERR_FAILED/);
  await stages.enter(context, 'app');
  await page.goto(asked);
  await page.route('**/logout*', (route) => route.abort());
  await page.getByRole('link', { name: texts['twofa-change-user'] }).click();
  await expect(page.getByRole('alert')).toHaveText(texts['twofa-something-went-wrong']);
  await expect(codeForm(page).field).toBeEditable();
  await page.getByRole('link', { name: 'Return to sign-in' }).click();
  await expect(heading(page)).toHaveText('Sign in');
});

test('a second tab continues where the first one is, each to its own page', async ({
  page,
  context,
  watch,
  newPersonWithApp,
  javaScriptEnabled,
}) => {
  watch.expect(/status of 401/, /not verified: signInExpired/);
  const { username, key } = await newPersonWithApp();
  await page.goto('/portal/portal.html?one');
  await givePassword(page, username);
  const tab = await context.newPage();
  await tab.goto('/portal/portal.html?two');
  await expect(heading(tab)).toHaveText('Enter your code');
  await codeForm(tab, javaScriptEnabled).send(appCode(key));
  await expect(tab).toHaveURL('/portal/portal.html?two');
  await expectSignedIn(tab, username);
  const third = await context.newPage();
  await third.goto('/portal/twoFactor?redirectURL=%2Fportal%2Fportal.html%3Fthree');
  await expect(third).toHaveURL('/portal/portal.html?three');
  // A signed-in user need not enter a right code.
  await codeForm(page, javaScriptEnabled).send(appCode(key));
  if (javaScriptEnabled) await signInAgain(page, 'signInExpired');
  await expect(page).toHaveURL('/portal/portal.html?one');
  await expectSignedIn(page, username);
});

test('a long name beside the way to change the user fits on a phone', async ({ page, newPersonWithApp, portal }) => {
  const { username } = await newPersonWithApp();
  const long = `${'w'.repeat(90)}-שלום`;
  await renameTo(portal, username, long);
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto('/portal/login');
  await givePassword(page, username);
  await expect(page.getByText(long)).toBeVisible();
  await expect(page.locator('bdi')).toHaveText(long);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
});

test('too many attempts for the account are reported with a title and the wait', async ({
  page,
  watch,
  context,
  stages,
}) => {
  watch.expect(/status of 429/, /not verified: throttled/);
  await stages.enter(context, 'app');
  await page.goto('/portal/twoFactor');
  await page.route('**/verify', (route) => route.fulfill({ status: 429, headers: { 'retry-after': '29' } }));
  await codeForm(page).send('123456');
  await expect(page.getByRole('alert')).toHaveText('Too many attempts. Try again in 29 seconds.');
});

for (const [what, answer] of [
  ['a mistake of the server', { status: 500, json: { title: 'x' } }],
  ['a refusal', { status: 403, json: true }],
  ['what cannot be read', { status: 400, json: true }],
  ['a page in place of an answer', { status: 200, contentType: 'text/html', body: '<p>x' }],
  ['no network', null],
] as const) {
  test(`a check that fails, by ${what}, is reported like a wrong code, and the page stays`, async ({
    page,
    watch,
    context,
    stages,
  }) => {
    watch.expect(/status of \d00/, /status of 403/, /ERR_FAILED/, /not verified: failed/);
    await stages.enter(context, 'app');
    await page.goto('/portal/twoFactor');
    await page.route('**/verify', (route) => (answer ? route.fulfill(answer) : route.abort()));
    const form = codeForm(page);
    await form.send('123456');
    await expect(page.getByRole('alert')).toHaveText(texts['twofa-error-try-again-with-code']);
    await expect(page).toHaveURL(/\/portal\/twoFactor/);
    await expect(form.box(6)).toHaveValue('6');
    await expect(form.box(6)).toBeFocused();
    await expect(form.button).toBeEnabled();
  });
}

for (const json of [{ success: true }, 1, 'ok', []]) {
  test(`a right code is also right in another backend’s words: ${JSON.stringify(json)}`, async ({
    page,
    context,
    watch,
    stages,
  }) => {
    watch.expect(/404/);
    await stages.enter(context, 'app');
    await page.goto('/portal/#/twoFactor?redirectURL=%2Fnowhere%3Fq%3D1');
    await page.route('**/verify', (route) => route.fulfill({ status: 201, json }));
    await codeForm(page).send('123456');
    await expect(page).toHaveURL('/nowhere?q=1');
  });
}

test('a code is submitted automatically, and only once', async ({ page, context, newPersonWithApp }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { username, key } = await newPersonWithApp();
  const sent: (string | null)[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/verify')) sent.push(request.postData());
  });
  await page.goto('/portal/login');
  await givePassword(page, username);
  const form = codeForm(page);
  const [wrong = ''] = wrongAppCodes(key, 1);
  await expect(form.box(1)).toBeFocused();
  await page.keyboard.type(wrong.slice(0, 5));
  await expect(form.button).toBeDisabled();
  await page.keyboard.type(wrong.slice(5));
  await expect(page.getByRole('alert')).toHaveText(texts['twofa-error-try-again-with-code']);
  await expect(form.box(1)).toBeFocused();
  for (const position of [1, 2, 3, 4, 5, 6]) await expect(form.box(position)).toHaveValue('');

  const right = appCode(key);
  await page.evaluate((text) => navigator.clipboard.writeText(text), `${right.slice(0, 3)} ${right.slice(3)}`);
  await page.keyboard.press('ControlOrMeta+v');
  await expectSignedIn(page, username);
  expect(sent).toEqual([JSON.stringify(wrong), JSON.stringify(right)]);
});

test('a digit typed over itself moves on', async ({ page, context, stages }) => {
  await stages.enter(context, 'app');
  await page.goto('/portal/twoFactor');
  const form = codeForm(page);
  await expect(form.box(1)).toBeFocused();
  await page.keyboard.type('123');
  await page.keyboard.press('Home');
  await page.keyboard.type('12');
  await expect(form.box(3)).toBeFocused();
  await page.keyboard.type('45');
  for (const [index, digit] of ['1', '2', '4', '5', '', ''].entries())
    await expect(form.box(index + 1)).toHaveValue(digit);
});

test('a failed check is reported, and the button sends the same code', async ({ page, watch, newPersonWithApp }) => {
  watch.expect(/status of 503/, /not verified: unavailable/);
  const { username, key } = await newPersonWithApp();
  await page.goto('/portal/login');
  await givePassword(page, username);
  let count = 0;
  await page.route('**/verify', (route) => {
    count += 1;
    return count === 1 ? route.fulfill({ status: 503, headers: { 'retry-after': '20' } }) : route.continue();
  });
  const form = codeForm(page);
  await form.send(appCode(key));
  await expect(page.getByRole('alert')).toHaveText(/temporarily unavailable.*Try again in 20\sseconds\.$/);
  await expect(form.box(6)).not.toHaveValue('');
  expect(count).toBe(1);
  await form.button.click();
  await expectSignedIn(page, username);
});

test('a QR code that fails to load is reported, with a way to retry', async ({ page, context, watch, stages }) => {
  watch.expect(/status of 503/);
  await stages.enter(context, 'new app');
  await page.route('**/two-factor-authentication/registration', (route) => route.fulfill({ status: 503 }), {
    times: 1,
  });
  await page.goto(asked);
  await expect(page.getByRole('alert')).toContainText('The QR code isn’t available');
  await expect(page.getByRole('alert')).toContainText(texts['twofa-qr-code-unavailable']);
  await page.getByRole('link', { name: 'Reload' }).click();
  await expect(page.getByRole('img', { name: texts['registration-qr'] })).toBeVisible();
  await expect(shownKey(page)).toBeVisible();
});

for (const who of ['who must have one', 'who is signed in already'] as const) {
  test(`on a phone the app of ${who} is opened by a link with everything in the QR code`, async ({
    anotherBrowser,
    stages,
  }) => {
    const { page, context } = await anotherBrowser({
      hasTouch: true,
      isMobile: true,
      viewport: { width: 390, height: 844 },
    });
    if (who === 'who must have one') await stages.enter(context, 'new app');
    else await signIn(page, 'ada', password);
    await page.goto('/portal/twoFactorRegistration');
    const link = page.getByRole('link', { name: 'Open in your authenticator app' });
    await expect(link).toBeVisible();
    const { searchParams } = new URL((await link.getAttribute('href')) ?? '');
    expect(searchParams.get('secret')).toBe(await keyToRegister(page));
  });
}
