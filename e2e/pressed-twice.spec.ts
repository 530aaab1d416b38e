import type { Page } from '@playwright/test';
import { appCode, wrongAppCodes } from './authenticator-app.ts';
import { codeForm, keyToRegister, recoveryCodes } from './code-form.ts';
import { onDatabaseOf } from './portal-database.ts';
import { expectSignedIn, signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';

// Without JavaScript nothing disables a button. On a slow line the second press of a double click leaves before the first
// answer arrives: the browser drops that one with its cookies, and shows the second.

const only = { tag: '@without-script-only' };
const texts = textsOf('en');

/** Has each answer take that many milliseconds. */
async function slowDown(page: Page, latency: number): Promise<void> {
  const line = await page.context().newCDPSession(page);
  await line.send('Network.enable');
  await line.send('Network.emulateNetworkConditions', {
    offline: false,
    latency,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
}

/** Presses a button twice, on a line of 150 ms. */
async function pressTwice(page: Page, button: ReturnType<Page['getByRole']>): Promise<void> {
  await slowDown(page, 150);
  const posts: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()));
  await button.dblclick({ delay: 60, noWaitAfter: true });
  await expect.poll(() => posts.length).toBe(2);
}

async function givePassword(page: Page, username: string): Promise<void> {
  await page.goto('/portal/login');
  await signInForm(page).send(username, password);
  await expect(page).toHaveURL(/\/twoFactor/);
}

test('a right code pressed twice on a slow line signs in', only, async ({ page, newPersonWithApp }) => {
  const { username, key } = await newPersonWithApp();
  await givePassword(page, username);
  await codeForm(page, false).field.fill(appCode(key, 30));
  await pressTwice(page, codeForm(page, false).button);
  await expectSignedIn(page, username);
  await page.reload();
  await expectSignedIn(page, username);
});

test('an app set up with two presses on a slow line shows its recovery codes', only, async ({ page, newPerson }) => {
  const { username } = await newPerson({ customers: ['apps'] });
  await givePassword(page, username);
  await codeForm(page, false).field.fill(appCode(await keyToRegister(page)));
  await pressTwice(page, codeForm(page, false).button);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Keep these codes safe');
  await expect(recoveryCodes(page)).toHaveCount(10);
  await page.getByRole('link', { name: 'Continue' }).click();
  await expectSignedIn(page, username);
});

test(
  'the codes are shown, too, if the second press is made while their page is under way',
  only,
  async ({ page, newPerson }) => {
    const { username } = await newPerson({ customers: ['apps'] });
    await givePassword(page, username);
    await codeForm(page, false).field.fill(appCode(await keyToRegister(page)));
    await slowDown(page, 1000);
    const box = await codeForm(page, false).button.boundingBox();
    if (!box) throw new Error('the button is not to be seen');
    // By the mouse, which doesn't wait for the page that is under way: the first answer has come, with its cookies, and the
    // page of the codes takes another second.
    for (const _press of ['first', 'second']) {
      const answered = page.waitForResponse('**/verify');
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
      await answered;
    }
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Keep these codes safe');
    await expect(recoveryCodes(page)).toHaveCount(10);
  },
);

test('a wrong code pressed twice on a slow line counts one', only, async ({ page, portal, newPersonWithApp }) => {
  const { username, key } = await newPersonWithApp();
  await givePassword(page, username);
  const [wrong = ''] = wrongAppCodes(key, 1);
  await codeForm(page, false).field.fill(wrong);
  await pressTwice(page, codeForm(page, false).button);
  await expect(page.getByText(texts['twofa-error-try-again-with-code'])).toBeVisible();
  await onDatabaseOf(portal, async (sql) => {
    const [row] = await sql<{ tries: number }[]>`
      select code_tries as tries from session s join portal_user u on u.id = s.user_id where u.username = ${username}
        and s.stage = 'half'`;
    expect(row?.tries).toBe(1);
  });
});

test(
  'a sign-in pressed twice on a slow line waits for the one emailed code',
  only,
  async ({ page, inbox, newPerson }) => {
    const { username, email } = await newPerson({ customers: ['mails'] });
    await page.goto('/portal/login');
    await signInForm(page).fill(username, password);
    await pressTwice(page, signInForm(page).button);
    await expect(page).toHaveURL(/\/twoFactor/);
    await codeForm(page, false).field.fill((await inbox.take(email, 'signInCode')).code);
    await pressTwice(page, codeForm(page, false).button);
    await expectSignedIn(page, username);
  },
);
