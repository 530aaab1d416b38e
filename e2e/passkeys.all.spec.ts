import type { Page } from '@playwright/test';
import { appCode } from './authenticator-app.ts';
import { codeForm } from './code-form.ts';
import { addCustomerTo } from './portal-accounts.ts';
import { expectSignedIn, signIn, signInForm, signOutButton } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';
import { appCodeIsPast, signInIsOld } from './time-passed.ts';
import { VirtualAuthenticator, withoutOffer } from './virtual-authenticator.ts';

const texts = textsOf('en');
const heading = (page: Page) => page.getByRole('heading', { level: 1 });
const passkeyButton = (page: Page) => page.getByRole('button', { name: texts['login-passkey'] });
const addButton = (page: Page) => page.getByRole('button', { name: texts['account-passkeys-add'] });

/** Adds a passkey on the account page of somebody who has just signed in. */
async function enrol(page: Page): Promise<void> {
  await page.goto('/portal/account/passkeys');
  await page.getByRole('link', { name: texts['account-passkeys-add'] }).click();
  await addButton(page).click();
  await expect(page.getByText(texts['account-notice-passkeyAdded'])).toBeVisible();
}

async function signOut(page: Page): Promise<void> {
  await page.goto('/portal/portal.html');
  await signOutButton(page).click();
  await expect(signInForm(page).button).toBeVisible();
}

test('a passkey is added, and signs in by the button, to the page asked for, fragment and all', async ({
  page,
  newPerson,
  inbox,
}) => {
  const { username, email } = await newPerson();
  await withoutOffer(page);
  const authenticator = await VirtualAuthenticator.addTo(page);
  await signIn(page, username, password);
  await enrol(page);
  expect(await authenticator.passkeys()).toMatchObject([{ isResidentCredential: true, rpId: 'localhost' }]);
  await inbox.take(email, 'passkeyAdded');
  await signOut(page);
  await page.goto('/portal/portal.html?tab=2#/reports/7');
  await passkeyButton(page).click();
  await expectSignedIn(page, username);
  await expect(page).toHaveURL('/portal/portal.html?tab=2#/reports/7');
});

test('the field for the name offers it, and three requests lead from there to the hub', async ({
  page,
  context,
  newPerson,
}) => {
  const { username } = await newPerson();
  await VirtualAuthenticator.addTo(page);
  await signIn(page, username, password);
  await enrol(page);
  await context.clearCookies();
  const requests: string[] = [];
  page.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
  // Nobody presses anything: the browser offers it, and the authenticator answers.
  await page.goto('/portal/login', { waitUntil: 'commit' });
  await expectSignedIn(page, username);
  const chosen = requests.indexOf('POST /portal/passkeys/sign-in');
  const hub = requests.indexOf('GET /portal/portal.html', chosen);
  expect(requests.slice(chosen, hub + 1)).toEqual([
    'POST /portal/passkeys/sign-in',
    'GET /portal',
    'GET /portal/portal.html',
  ]);
});

test('it is renamed and removed, and is gone from the browser too', async ({ page, newPerson, inbox }) => {
  const { username, email } = await newPerson();
  await withoutOffer(page);
  const authenticator = await VirtualAuthenticator.addTo(page);
  await signIn(page, username, password);
  await enrol(page);
  await page.getByRole('link', { name: /^Rename / }).click();
  await page.getByLabel(texts['account-passkeys-name']).fill('My <b>phone</b>');
  await page.getByRole('button', { name: texts['account-passkeys-rename'] }).click();
  await expect(page.getByText(texts['account-notice-passkeyRenamed'])).toBeVisible();
  await page.getByRole('link', { name: 'Remove My <b>phone</b>' }).click();
  await page.getByRole('button', { name: texts['account-passkeys-remove'] }).click();
  await expect(page.getByText(texts['account-notice-passkeyRemoved'])).toBeVisible();
  await inbox.take(email, 'passkeyRemoved');
  // The browser has heard of it (signalAllAcceptedCredentials).
  await expect.poll(() => authenticator.passkeys()).toEqual([]);
});

test('it proves on the account page who it is, and what was begun goes on', async ({ page, newPerson, portal }) => {
  const { username } = await newPerson();
  await withoutOffer(page);
  const authenticator = await VirtualAuthenticator.addTo(page);
  await signIn(page, username, password);
  await enrol(page);
  await signInIsOld(portal, username);
  await page.getByRole('link', { name: /^Remove / }).click();
  const proof = page.getByRole('button', { name: texts['account-proof-passkey'], exact: true });
  await authenticator.recognises(false);
  await proof.click();
  await expect(page.getByText(texts['account-proof-passkey-none'])).toBeVisible();
  await authenticator.recognises(true);
  await proof.click();
  await page.getByRole('button', { name: texts['account-passkeys-remove'], exact: true }).click();
  await expect(page.getByText(texts['account-notice-passkeyRemoved'])).toBeVisible();
});

/**
 * Makes passkeys as a browser does that has just filled in the saved password; Chromium under test saves none. Returns how each
 * was asked for, so far.
 */
async function makesThemUnasked(page: Page): Promise<unknown[]> {
  const asked: unknown[] = [];
  await page.exposeFunction('tellAsked', (mediation: unknown) => void asked.push(mediation));
  await page.addInitScript(() => {
    const { tellAsked } = window as unknown as { tellAsked: (mediation: unknown) => Promise<void> };
    const create = navigator.credentials.create.bind(navigator.credentials);
    navigator.credentials.create = async (options) => {
      await tellAsked((options as { mediation?: unknown }).mediation);
      return await create({ publicKey: options?.publicKey as never });
    };
  });
  return asked;
}

test('after a password the browser makes one by itself, once, and nobody waits for it', async ({
  page,
  newPerson,
  inbox,
}) => {
  const { username, email } = await newPerson();
  await withoutOffer(page);
  const asked = await makesThemUnasked(page);
  const authenticator = await VirtualAuthenticator.addTo(page);
  const stored = page.waitForResponse('**/passkeys/upgrade');
  await signIn(page, username, password);
  expect((await stored).status()).toBe(204);
  expect(await authenticator.passkeys()).toHaveLength(1);
  await inbox.take(email, 'passkeyAdded');
  await signOut(page);
  const script = page.waitForResponse('**/passkeys/upgrade.js');
  await signIn(page, username, password);
  expect(await (await script).text()).toBe('');
  expect(asked).toEqual(['conditional']);
  await signOut(page);
  await passkeyButton(page).click();
  await expectSignedIn(page, username);
});

test('one that it has made and nobody stores vanishes from the browser', async ({ page, newPerson, watch }) => {
  const { username } = await newPerson();
  await makesThemUnasked(page);
  const authenticator = await VirtualAuthenticator.addTo(page);
  watch.expect(/status of 409/);
  await page.route('**/passkeys/upgrade', (route) => route.fulfill({ status: 409 }));
  const refused = page.waitForResponse('**/passkeys/upgrade');
  await signIn(page, username, password);
  await refused;
  await expect.poll(() => authenticator.passkeys()).toEqual([]);
});

test('one that an operator has removed is refused', async ({ page, newPerson, portal }) => {
  test.setTimeout(60_000);
  const { username } = await newPerson();
  await withoutOffer(page);
  const authenticator = await VirtualAuthenticator.addTo(page);
  await signIn(page, username, password);
  await enrol(page);
  const [{ id }] = JSON.parse((await portal.mustRun(['user', 'passkeys', username, '--json'])) as string) as [
    { id: string },
  ];
  await portal.mustRun(['user', 'passkeys', username, '--remove', id]);
  await signOut(page);
  await passkeyButton(page).click();
  await expect(page).toHaveURL('/portal/loginfail/passkey');
  await expect(heading(page)).toHaveText(texts['login-fail-passkey-title']);
  // The browser has heard of it (signalUnknownCredential).
  await expect.poll(() => authenticator.passkeys()).toEqual([]);
  await page.getByRole('link', { name: 'Return to sign-in' }).click();
  await expect(signInForm(page).button).toBeVisible();
});

test('in place of a code, after a password, to the page asked for', async ({ page, newPersonWithApp, portal }) => {
  const person = await newPersonWithApp();
  await withoutOffer(page);
  await VirtualAuthenticator.addTo(page);
  await page.goto('/portal/login?destination=%2Fportal%2Faccount%2Fpasskeys');
  await signInForm(page).send(person.username, password);
  await expect(heading(page)).toHaveText('Enter your code');
  await expect(passkeyButton(page)).toHaveCount(0);
  await codeForm(page).send(appCode(person.key));
  await expect(heading(page)).toHaveText(texts['account-passkeys-title']);
  await enrol(page);
  await signOut(page);
  await page.goto('/portal/portal.html?tab=2#/reports/7');
  await signInForm(page).send(person.username, password);
  await expect(heading(page)).toHaveText('Enter your code');
  await passkeyButton(page).click();
  await expectSignedIn(page, person.username);
  await expect(page).toHaveURL('/portal/portal.html?tab=2#/reports/7');
  expect(portal.log).not.toContain('"level":50');
});

test('where an app is required, the password alone leads to the passkey, not to a QR code', async ({
  page,
  portal,
  newPerson,
}) => {
  const key = `stern-${Date.now()}`;
  await addCustomerTo(portal, key);
  const { username } = await newPerson({ customers: [key] });
  await withoutOffer(page);
  const authenticator = await VirtualAuthenticator.addTo(page);
  await signIn(page, username, password);
  await enrol(page);
  await portal.mustRun(['customer', 'set', key, '--two-factor', 'app']);
  await signOut(page);
  await page.goto('/portal/portal.html?tab=2#/reports/7');
  await signInForm(page).send(username, password);
  await expect(heading(page)).toHaveText(texts['login-passkey']);
  await expect(page.getByText(texts['register-elsewhere-passkey'])).toBeVisible();
  await authenticator.recognises(false);
  await passkeyButton(page).click();
  await expect(page.getByText(texts['login-passkey-none'])).toBeVisible();
  await authenticator.recognises(true);
  await passkeyButton(page).click();
  await expectSignedIn(page, username);
  await expect(page).toHaveURL('/portal/portal.html?tab=2#/reports/7');
});

test('who cancels anywhere goes on where they are', async ({ page, portal, newPersonWithApp }) => {
  const { username, key } = await newPersonWithApp();
  await withoutOffer(page);
  const authenticator = await VirtualAuthenticator.addTo(page);
  await page.goto('/portal/login?destination=%2Fportal%2Faccount%2Fpasskeys%3Fdo%3Denrol');
  await signInForm(page).send(username, password);
  await expect(heading(page)).toHaveText('Enter your code');
  await appCodeIsPast(portal, username);
  await codeForm(page).send(appCode(key));
  await authenticator.recognises(false);
  await addButton(page).click();
  await expect(page.getByText(texts['account-passkeys-none'])).toBeVisible();
  await expect(addButton(page)).toBeFocused();
  await authenticator.recognises(true);
  await addButton(page).click();
  await expect(page.getByText(texts['account-notice-passkeyAdded'])).toBeVisible();
  await signOut(page);
  await authenticator.recognises(false);
  await passkeyButton(page).click();
  await expect(page.getByText(texts['login-passkey-none'])).toBeVisible();
  await expect(passkeyButton(page)).toBeFocused();
  await signInForm(page).send(username, password);
  await expect(heading(page)).toHaveText('Enter your code');
  await passkeyButton(page).click();
  await expect(page.getByText(texts['login-passkey-none'])).toBeVisible();
  await expect(passkeyButton(page)).toBeFocused();
  await appCodeIsPast(portal, username);
  await codeForm(page).send(appCode(key));
  await expectSignedIn(page, username);
});

test('of two devices each has its own; once one is removed, the other signs in', async ({
  page,
  newPerson,
  anotherBrowser,
}) => {
  const { username } = await newPerson();
  const lost = (await anotherBrowser()).page;
  for (const device of [page, lost]) {
    await withoutOffer(device);
    await VirtualAuthenticator.addTo(device);
    await signIn(device, username, password);
    await enrol(device);
    await signOut(device);
  }
  await page.goto('/portal/account/passkeys');
  await passkeyButton(page).click();
  await page
    .getByRole('link', { name: /^Remove / })
    .last()
    .click();
  await page.getByRole('button', { name: texts['account-passkeys-remove'] }).click();
  await expect(page.getByText(texts['account-notice-passkeyRemoved'])).toBeVisible();
  await passkeyButton(lost).click();
  await expect(lost).toHaveURL('/portal/loginfail/passkey');
  await signOut(page);
  await passkeyButton(page).click();
  await expectSignedIn(page, username);
});

test('a second tab signs in by its own press, to its own page', async ({ page, context, newPerson }) => {
  const { username } = await newPerson();
  const second = await context.newPage();
  const authenticators: VirtualAuthenticator[] = [];
  for (const tab of [page, second]) {
    await withoutOffer(tab);
    authenticators.push(await VirtualAuthenticator.addTo(tab));
  }
  await signIn(page, username, password);
  await enrol(page);
  await authenticators[1]?.copyFrom(authenticators[0] as VirtualAuthenticator);
  await signOut(page);
  await page.goto('/portal/portal.html?tab=1#/one');
  await second.goto('/portal/portal.html?tab=2#/two');
  await expect(passkeyButton(second)).toBeVisible();
  for (const [tab, address] of [
    [page, '/portal/portal.html?tab=1#/one'],
    [second, '/portal/portal.html?tab=2#/two'],
  ] as const) {
    await passkeyButton(tab).click();
    await expectSignedIn(tab, username);
    await expect(tab).toHaveURL(address);
  }
});

test('from outside the networks of a customer none opens it', async ({ page, portal, newPerson }) => {
  const key = `moves-${Date.now()}`;
  await addCustomerTo(portal, key);
  const { username } = await newPerson({ customers: [key] });
  await withoutOffer(page);
  await VirtualAuthenticator.addTo(page);
  await signIn(page, username, password);
  await enrol(page);
  await portal.mustRun(['customer', 'set', key, '--allow-network', '203.0.113.0/24']);
  await page.goto('/portal/login');
  await passkeyButton(page).click();
  await expect(page).toHaveURL(/\/portal\/loginfail\/ip\b/);
  await expect(heading(page)).toHaveText(texts['login-fail-ip-title']);
});
