import { readFileSync } from 'node:fs';
import { changeCustomer } from '#server/accounts/customers.ts';
import { appCode, wrongAppCodes } from '../support/authenticator-app.ts';
import {
  codeForm,
  expectSignedIn,
  heading,
  keyToRegister,
  recoveryCodes,
  shownKey,
  signIn,
  signInForm,
  signOutButton,
} from './forms.ts';
import { addCustomerTo } from './portal-accounts.ts';
import { codeMailsAreLongAgo, codeMailWaits, onDatabaseOf, sendWaitIsOver, signInIsOld } from './portal-database.ts';
import { both, expect, password, test } from './test.ts';
import { texts } from './texts.ts';

// What is said and offered when a second factor does not go straight on. journeys.spec.ts and state-walk go the whole way.

const asked = '/portal/portal.html?tab=2&filter=a%26b';
const verify = '**/two-factor-authentication/verify';

test.beforeEach(({ watch }) => watch.expect(/Two-factor code not verified: (?:wrong|failed|throttled|unavailable)/));

test('SE-09 recovery codes that the browser kept are not shown once more after the session has ended elsewhere', async ({
  page,
  portal,
  newPerson,
}) => {
  const { username } = await newPerson({ customers: ['apps'] });
  await page.goto('/portal/login');
  await signInForm(page).send(username, password);
  await codeForm(page).send(appCode(await keyToRegister(page)));
  await expect(recoveryCodes(page)).toHaveCount(10);
  await portal.mustRun(['user', 'sign-out', username]);
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

for (const [what, stage] of [
  ['the code', 'app'],
  ['the registration', 'new app'],
] as const)
  test(`giving up ${what} leads to the sign-in form with the requested page, and nothing stays open`, async ({
    page,
    context,
    stages,
  }) => {
    await stages.enter(context, stage);
    const fetched = stage === 'new app' && page.waitForResponse((answer) => answer.url().endsWith('/registration'));
    await page.goto(asked);
    // Leaving before the key has loaded would leave its request unanswered, or refused.
    await fetched;
    await page.getByRole('link', { name: stage === 'app' ? texts['twofa-change-user'] : texts.cancel }).click();
    await expect(heading(page)).toHaveText(texts['login-title']);
    await page.goto('/portal/twoFactor');
    await expect(heading(page)).toHaveText(texts['login-title']);
    await expect(page.getByText(texts['notice-signInExpired-text'])).toHaveCount(0);
    // “Not you” leads to an empty form; who cancels a registration is the same person.
    await expect(signInForm(page).username).toHaveValue(stage === 'app' ? '' : /./);
    await page.goBack();
    await signInForm(page).send('ada', password);
    await expect(page).toHaveURL(asked);
    await expectSignedIn(page, 'ada');
  });

test('giving up that fails says so and still offers a way on', async ({ page, context, watch, stages }) => {
  watch.expect(/twofa-something-went-wrong/, /net::ERR_FAILED/);
  await stages.enter(context, 'app');
  await page.goto(asked);
  await page.route('**/logout*', (route) => route.abort());
  await page.getByRole('link', { name: texts['twofa-change-user'] }).click();
  await expect(page.getByRole('alert')).toHaveText(texts['twofa-something-went-wrong']);
  await expect(codeForm(page).field).toBeEditable();
  await page.getByRole('link', { name: texts['return-to-login'] }).click();
  await expect(heading(page)).toHaveText(texts['login-title']);
});

test('a sign-in too old to set up an app says so at whatever step; it can be skipped, or begun again', async ({
  page,
  portal,
  watch,
  newPerson,
}) => {
  watch.expect(/status of 409/, /not verified: signInTooOld/);
  const { username } = await newPerson();
  const place = `${asked}#/reports/7`;
  const registration = `/portal/twoFactorRegistration?${new URLSearchParams({ redirectURL: place })}`;
  await signIn(page, username, password);
  await page.goto(registration);
  const key = await keyToRegister(page);
  await signInIsOld(portal, username);
  await codeForm(page).send(appCode(key));
  await expect(page.getByText(texts['once-more-title'])).toBeVisible();
  await page.reload();
  await expect(heading(page)).toHaveText(texts['once-more-title']);
  await page.getByRole('link', { name: texts.cancel }).click();
  await expect(page).toHaveURL(place);
  await expectSignedIn(page, username);

  await page.goto(registration);
  await page.getByRole('button', { name: texts['once-more-button'] }).click();
  await expect(heading(page)).toHaveText(texts['login-title']);
  await signInForm(page).send(username, password);
  await codeForm(page).send(appCode(await keyToRegister(page)));
  await expect(heading(page)).toHaveText(texts['recovery-codes-title']);
  await page.getByRole('link', { name: texts.continue }).click();
  await expect(page).toHaveURL(place);
});

test('without JavaScript an incomplete code gets an explanation, and the box stays ticked', {
  tag: '@without-script-only',
}, async ({ page, context, stages }) => {
  await stages.enter(context, 'app');
  await page.goto('/portal/twoFactor');
  const form = codeForm(page, false);
  await form.remember.check();
  await form.sendWrong('123', texts['twofa-malformed']);
  await expect(form.remember).toBeChecked();
});

for (const [what, answer, said] of [
  ['a mistake of the server', { status: 500, json: { title: 'x' } }],
  ['a page in place of an answer', { status: 200, contentType: 'text/html', body: '<p>x' }],
  ['no network', null],
  ['too many attempts', { status: 429, headers: { 'retry-after': '29' } }, /^Too many.*Try again in 29\sseconds\.$/],
  ['a server that is away', { status: 503, headers: { 'retry-after': '20' } }, /unavailable.*in 20\sseconds\.$/],
] as [string, object | null, RegExp?][])
  test(`a check that fails, by ${what}, is reported; the button sends the same code`, async ({
    page,
    watch,
    newPersonWithApp,
  }) => {
    watch.expect(/status of (?:\d00|429|503)/, /ERR_FAILED/);
    const { username, key } = await newPersonWithApp();
    await page.goto('/portal/login');
    await signInForm(page).send(username, password);
    const form = codeForm(page);
    await expect(form.field).toBeFocused();
    await page.route(verify, (route) => (answer ? route.fulfill(answer) : route.abort()));
    await form.send(appCode(key));
    await expect(page.getByRole('alert')).toHaveText(said ?? texts['twofa-error-try-again-with-code']);
    await expect(form.box(6)).not.toHaveValue('');
    await page.unroute(verify);
    await form.button.click();
    await expectSignedIn(page, username);
  });

test('a code is typed over, pasted, and sent by itself, once', async ({ page, context, newPersonWithApp }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { username, key } = await newPersonWithApp();
  const sent: (string | null)[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/verify')) sent.push(request.postData());
  });
  await page.goto('/portal/login');
  await signInForm(page).send(username, password);
  const form = codeForm(page);
  const [wrong = ''] = wrongAppCodes(key, 1);
  await expect(form.box(1)).toBeFocused();
  await page.keyboard.type('99');
  await page.keyboard.press('Home');
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

test('a QR code that fails to load is reported, with a way to retry; on a phone a link has what it holds', async ({
  anotherBrowser,
  watch,
  stages,
}) => {
  watch.expect(/status of 503/);
  const phone = { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } };
  const { page, context } = await anotherBrowser(phone);
  await stages.enter(context, 'new app');
  await page.route('**/registration', (route) => route.fulfill({ status: 503 }), { times: 1 });
  await page.goto(asked);
  await expect(page.getByRole('alert')).toContainText(texts['twofa-qr-code-unavailable']);
  await page.getByRole('link', { name: 'Reload' }).click();
  await expect(page.getByRole('img', { name: texts['registration-qr'] })).toBeVisible();
  const link = page.getByRole('link', { name: 'Open in your authenticator app' });
  const { searchParams } = new URL((await link.getAttribute('href')) ?? '');
  expect(searchParams.get('secret')).toBe(await keyToRegister(page));
});

test(
  'an account that got too many codes is told that none was sent and for how long, and then gets one',
  both,
  async ({ page, portal, watch, inbox, newPerson, javaScriptEnabled }) => {
    watch.expect(/status of 429/);
    const send = page.getByRole('button', { name: texts['twofa-send'] });
    const wait = page.getByText(/You can ask for one in \d\d\sseconds\./).first();
    const person = await newPerson({ customers: ['mails'] });
    await codeMailWaits(portal, person.username, 90);
    await page.goto(asked);
    await signInForm(page).send(person.username, password);
    await expect(heading(page)).toHaveText(texts['twofa-email-none-title']);
    await expect(wait).toBeVisible();
    if (javaScriptEnabled) {
      await expect(page.getByRole('button', { name: /^Send again in \d\d\sseconds$/ })).toBeDisabled();
    } else {
      await send.click();
      await expect(wait).toBeVisible();
    }
    await codeMailWaits(portal, person.username, 0);
    await page.reload();
    await expect(page.getByText(texts['notice-codeNotSent-now'])).toBeVisible();
    await send.click();
    const isSent = page.getByText(`${texts['notice-codeSent-title']}.`, { exact: true });
    await expect(isSent).toBeVisible();
    const { code } = await inbox.take(person.email, 'signInCode');

    // Four for one sign-in at most; this was the first.
    for (let count = 2; count <= 4; count += 1) {
      await sendWaitIsOver(portal, person.username);
      await codeMailsAreLongAgo(portal);
      await page.reload();
      await send.click();
      await expect(isSent).toBeVisible();
    }
    await page.reload();
    await expect(page.getByText(texts['twofa-send-over'])).toBeVisible();
    await expect(send).toHaveCount(0);
    await expect(page.getByRole('link', { name: texts['sign-in-again'] })).toBeVisible();
    await codeForm(page, javaScriptEnabled).sendWrong(code, texts['twofa-email-wrong']);
  },
);

test(
  'MF-12 after a change from codes by email to an app: the code by email, then the QR code, then in, at the requested page',
  both,
  async ({ page, portal, inbox, newPerson, javaScriptEnabled }) => {
    test.setTimeout(90_000);
    const key = `tightened-${javaScriptEnabled ? 'with' : 'without'}-script`;
    await addCustomerTo(portal, key, { twoFactor: 'email' });
    const { username, email } = await newPerson({ customers: [key] });
    const place = asked + (javaScriptEnabled ? '#/reports/7' : '');
    const form = codeForm(page, javaScriptEnabled);
    await page.goto('/portal/login');
    await signInForm(page).send(username, password);
    await form.send((await inbox.take(email, 'signInCode')).code);
    await expectSignedIn(page, username);
    await signOutButton(page).click();
    await expect(page).toHaveURL('/portal/login');

    await onDatabaseOf(portal, (sql) => changeCustomer(sql, key, { twoFactor: 'app' }, new Date()));
    await page.goto(place);
    await signInForm(page).send(username, password);
    await expect(page.getByText(texts['twofa-email-text'])).toBeVisible();
    await expect(form.remember).toHaveCount(0);
    await page.goto('/portal/twoFactorRegistration');
    await expect(page.getByText(texts['twofa-email-text'])).toBeVisible();
    await expect(shownKey(page)).toHaveCount(0);
    await page.goBack();
    const { code } = await inbox.take(email, 'signInCode');
    const opened: string[] = [];
    page.on('request', (request) => request.isNavigationRequest() && opened.push(new URL(request.url()).pathname));
    await form.send(code);

    await expect(heading(page)).toHaveText(texts['registration-title']);
    expect(opened, 'not even for a moment').not.toContain('/portal/portal.html');
    const shown = await keyToRegister(page);
    // Back and reload lead to the registration again.
    await page.goBack();
    await expect(heading(page)).toHaveText(texts['registration-title']);
    await page.goForward();
    await page.reload();
    expect(await keyToRegister(page)).toBe(shown);
    await form.send(appCode(shown));
    await expect(recoveryCodes(page)).toHaveCount(10);
    await page.getByRole('link', { name: texts.continue }).click();
    await expect(page).toHaveURL(place);
    await expectSignedIn(page, username);
  },
);
