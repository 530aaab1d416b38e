import { readFileSync } from 'node:fs';
import { appCode, wrongAppCodes } from '../support/authenticator-app.ts';
import { codeForm, expectSignedIn, heading, keyToRegister, recoveryCodes, signIn, signInForm } from './forms.ts';
import { signInIsOld } from './portal-database.ts';
import { expect, password, test } from './test.ts';
import { texts } from './texts.ts';

// What is said and offered when a second factor does not go straight on. journeys.spec.ts goes the whole way.

const asked = '/portal/portal.html?tab=2&filter=a%26b';

test.beforeEach(({ watch }) => watch.expect(/Two-factor code not verified: (?:wrong|failed|throttled)/));

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
  await page.getByRole('link', { name: texts.download }).click();
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

test('“Not you” leads to an empty form with the requested page, and nothing stays open', async ({
  page,
  context,
  watch,
  stages,
}) => {
  watch.expect(/twofa-something-went-wrong/, /net::ERR_FAILED/);
  await stages.enter(context, 'app');
  await page.goto(asked);
  await page.route('**/logout*', (route) => route.abort(), { times: 1 });
  const giveUp = page.getByRole('link', { name: texts['twofa-change-user'] });
  await giveUp.click();
  await expect(page.getByRole('alert')).toHaveText(texts['twofa-something-went-wrong']);
  await expect(codeForm(page).field).toBeEditable();
  await giveUp.click();
  await expect(heading(page)).toHaveText(texts['login-title']);
  await expect(signInForm(page).username).toHaveValue('');
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL(asked);
  await expectSignedIn(page, 'ada');
});

test('a sign-in too old to set up an app says so; it can be skipped, or begun again', async ({
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

  await page.goto(registration);
  await page.getByRole('button', { name: texts['once-more-button'] }).click();
  await expect(heading(page)).toHaveText(texts['login-title']);
  await signInForm(page).send(username, password);
  await codeForm(page).send(appCode(await keyToRegister(page)));
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

test('a check that fails is reported, and the button sends the same code', async ({
  page,
  watch,
  newPersonWithApp,
}) => {
  watch.expect(/status of (?:200|429)/, /ERR_FAILED/);
  const { username, key } = await newPersonWithApp();
  const verify = '**/two-factor-authentication/verify';
  const answers: [object | null, string | RegExp][] = [
    [null, texts['twofa-error-try-again-with-code']],
    [{ status: 200, contentType: 'text/html', body: '<p>x' }, texts['twofa-error-try-again-with-code']],
    [{ status: 429, headers: { 'retry-after': '29' } }, /^Too many.*Try again in 29\sseconds\.$/],
  ];
  await page.goto('/portal/login');
  await signInForm(page).send(username, password);
  const form = codeForm(page);
  await expect(form.field).toBeFocused();
  for (const [answer, said] of answers) {
    await page.route(verify, (route) => (answer ? route.fulfill(answer) : route.abort()));
    if (answer) await form.button.click();
    else await page.keyboard.type(appCode(key));
    await expect(page.getByRole('alert')).toHaveText(said);
    await expect(form.box(6)).not.toHaveValue('');
    await page.unroute(verify);
  }
  await form.button.click();
  await expectSignedIn(page, username);
});

test('a pasted code is sent by itself, once; what is none is said to have too few digits', async ({
  page,
  context,
  newPersonWithApp,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { username, key } = await newPersonWithApp();
  const sent: (string | null)[] = [];
  page.on('request', (request) => request.url().endsWith('/verify') && sent.push(request.postData()));
  await page.goto('/portal/login');
  await signInForm(page).send(username, password);
  const codes = [wrongAppCodes(key, 1)[0] ?? '', appCode(key)];
  const inArabic = (code: string) => code.replace(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit)));
  const paste = async (text: string) => {
    await expect(codeForm(page).box(1)).toBeFocused();
    await page.evaluate((text) => navigator.clipboard.writeText(text), text);
    await page.keyboard.press('ControlOrMeta+v');
  };
  await paste('Your code is 12345');
  await expect(page.getByRole('alert')).toHaveText(texts['twofa-malformed']);
  for (const code of codes) {
    await paste(`\u2066${inArabic(code.slice(0, 3))} ${code.slice(3)}\u2069`);
    if (code === codes[0]) await expect(page.getByRole('alert')).toHaveText(texts['twofa-error-try-again-with-code']);
  }
  await expectSignedIn(page, username);
  expect(sent).toEqual(codes.map((code) => JSON.stringify(code)));
});

test('a QR code that fails to load can be tried again; on a phone a link has what it holds', async ({
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
