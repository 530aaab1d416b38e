import type { Page } from '@playwright/test';
import { appCode } from '../support/authenticator-app.ts';
import { isScripted as isRunning } from './disturbances.ts';
import { codeForm, heading, keyToRegister, signInForm } from './forms.ts';
import { PlainBrowser } from './plain-browser.ts';
import { onDatabaseOf } from './portal-database.ts';
import { both, expect, password, test, type World } from './test.ts';
import { texts, textsOf } from './texts.ts';

// In each state of a sign-in, what depends on a browser; the person then goes on to the end, and arrives at the page that
// they asked for first, in each tab its own. server/sign-in/state-walk.test.ts walks what needs no browser.

const german = textsOf('de');

/** The fragment never reaches a server, so without JavaScript nobody can keep it. */
const asked = (tab: number, isScripted: boolean) => `/portal/portal.html?tab=${tab}${isScripted ? '#/reports/7' : ''}`;

type Where = World & { isScripted: boolean };

/** Somebody in a state of a sign-in. */
type Person = {
  username: string;
  /** Enters and sends what the page asks for, by one press or more. */
  finish: (page: Page, presses?: number) => Promise<void>;
  /** A code that comes next, once the password was given again. */
  nextCode?: () => Promise<string>;
};

const press = async (page: Page, name: string, presses: number) =>
  await page.getByRole('button', { name, exact: true }).click({ clickCount: presses });

async function givePassword(page: Page, username: string, presses = 1): Promise<void> {
  await signInForm(page).fill(username, password);
  await press(page, texts['login-button'], presses);
}

async function giveCode(page: Page, code: string, isScripted: boolean, presses = 1): Promise<void> {
  const { field } = codeForm(page, isScripted);
  if (isScripted) {
    await field.click();
    // Six boxes send themselves.
    return await page.keyboard.type(code);
  }
  await field.fill(code);
  await press(page, texts['twofa-verify'], presses);
}

async function signedInUpTo(world: Where, username: string): Promise<PlainBrowser> {
  const browser = await PlainBrowser.signIn(world.portal, username, password);
  await world.context.addCookies([browser.cookie]);
  return browser;
}

const states: Record<string, (world: Where) => Promise<Person>> = {
  async nobody({ newPerson }) {
    const { username } = await newPerson();
    return { username, finish: (page, presses) => givePassword(page, username, presses) };
  },

  async 'wrong password'({ newPerson, context, isScripted }) {
    const { username } = await newPerson();
    const page = await context.newPage();
    await page.goto(asked(1, isScripted));
    await signInForm(page).send(username, 'not the right one');
    await expect(heading(page)).toHaveText(texts['login-fail-default-title']);
    await page.close();
    return { username, finish: (page, presses) => givePassword(page, username, presses) };
  },

  async 'must register an app'(world) {
    const { username } = await world.newPerson({ customers: ['apps'] });
    await signedInUpTo(world, username);
    return {
      username,
      async finish(page, presses) {
        await giveCode(page, appCode(await keyToRegister(page)), world.isScripted, presses);
        await expect(heading(page)).toHaveText(texts['recovery-codes-title']);
        await page.getByRole('link', { name: texts.continue }).click();
      },
    };
  },

  async 'code of an app awaited'(world) {
    const { username, key } = await world.newPersonWithApp();
    await signedInUpTo(world, username);
    return {
      username,
      finish: (page, presses) => giveCode(page, appCode(key), world.isScripted, presses),
      nextCode: async () => appCode(key, 30),
    };
  },

  async 'must confirm the email'(world) {
    const { username, email } = await world.newPerson({ customers: ['mails'] });
    await signedInUpTo(world, username);
    const { code } = await world.inbox.take(email, 'signInCode');
    return {
      username,
      finish: (page, presses) => giveCode(page, code, world.isScripted, presses),
      nextCode: async () => (await world.inbox.take(email, 'signInCode')).code,
    };
  },

  async 'code by email awaited'(world) {
    const { username, email } = await world.newPerson({ customers: ['mails'] });
    await (await PlainBrowser.signIn(world.portal, username, password)).registerEmail(world.inbox, email);
    await signedInUpTo(world, username);
    const { code } = await world.inbox.take(email, 'signInCode');
    return {
      username,
      finish: (page, presses) => giveCode(page, code, world.isScripted, presses),
      nextCode: async () => (await world.inbox.take(email, 'signInCode')).code,
    };
  },

  async 'signed in'(world) {
    const { username } = await world.newPerson();
    await signedInUpTo(world, username);
    return { username, finish: async () => {} };
  },
};

async function expectArrived(page: Page, tab: number, { username }: Person, isScripted: boolean): Promise<void> {
  await expect(page).toHaveURL(
    new RegExp(`/portal/portal\\.html\\?tab=${tab}(?:&lang=en)?${isScripted ? '#/reports/7' : ''}$`),
  );
  await expect(page.getByText(username, { exact: true })).toBeVisible();
}

async function choose(page: Page, language: 'de' | 'en', isScripted: boolean): Promise<void> {
  if (isScripted) await isRunning(page);
  await page.locator('#lang').selectOption(language);
  if (!isScripted) await page.locator('.language button').click();
  await expect(page.locator('html')).toHaveAttribute('lang', language);
}

for (const [state, reach] of Object.entries(states)) {
  test(
    `${state}: reload, Back, another language and two presses`,
    both,
    async ({ page, world, javaScriptEnabled: isScripted }) => {
      const person = await reach({ ...world, isScripted });
      await page.goto(asked(2, isScripted));
      const shown = (await heading(page).textContent()) ?? '';
      await page.reload();
      await expect(heading(page)).toHaveText(shown);
      await page.goto('/portal/emailInfo');
      await page.goBack();
      await expect(heading(page)).toHaveText(shown);
      await choose(page, 'de', isScripted);
      await expect(heading(page)).not.toHaveText(shown);
      await expect(page.getByRole('link', { name: german.imprint, exact: true })).toBeVisible();
      await choose(page, 'en', isScripted);
      await expect(heading(page)).toHaveText(shown);
      await person.finish(page, 2);
      await expectArrived(page, 2, person, isScripted);
      await page.reload();
      await expectArrived(page, 2, person, isScripted);
    },
  );

  test(`${state}: the session ends meanwhile`, async ({
    page,
    world,
    portal,
    watch,
    javaScriptEnabled: isScripted,
  }) => {
    watch.expect(/status of 401/, /Two-factor code not verified: signInExpired/);
    const person = await reach({ ...world, isScripted });
    // Its script asks for the secret once more, which is to come before the end.
    const asksOnceMore = isScripted && state === 'must register an app';
    const registration = asksOnceMore ? page.waitForResponse('**/two-factor-authentication/registration') : null;
    await page.goto(asked(2, isScripted));
    await registration;
    await onDatabaseOf(
      portal,
      (sql) =>
        sql`update session set ends_at = now() from portal_user u where u.id = user_id and u.username = ${person.username}`,
    );
    if (state === 'signed in') await page.reload();
    else if (state === 'must register an app') {
      await giveCode(page, '123456', isScripted);
    } else await person.finish(page);
    const form = signInForm(page);
    if (/code|must/.test(state)) {
      if (isScripted) await page.getByRole('link', { name: texts['sign-in-again'] }).click();
      await expect(page.getByText(texts['notice-signInExpired-title'])).toHaveCount(isScripted ? 0 : 1);
      await expect(form.username).toHaveValue(person.username);
      await givePassword(page, person.username);
      if (person.nextCode) await giveCode(page, await person.nextCode(), isScripted);
      else await person.finish(page);
    } else if (state === 'signed in') await givePassword(page, person.username);
    await expectArrived(page, 2, person, isScripted);
  });
}
