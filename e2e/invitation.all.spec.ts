import { changeUser } from '#server/accounts/change-user.ts';
import { fadeOf } from './fade-of.ts';
import { holdRequests } from './held-requests.ts';
import { invitationFor } from './invitation-for.ts';
import { addCustomerTo } from './portal-accounts.ts';
import { onDatabaseOf } from './portal-database.ts';
import { changeForm, hashOf, newPassword } from './reset-forms.ts';
import { expectSignedIn, signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';
import { VirtualAuthenticator, withoutOffer } from './virtual-authenticator.ts';

const texts = textsOf('en');

test('an invitation: the command, an email, its link, a password, signed in', { tag: '@without-script' }, async ({
  page,
  portal,
  inbox,
  newPerson,
  javaScriptEnabled,
}) => {
  const { username, email } = await newPerson();
  await onDatabaseOf(portal, (sql) => changeUser(sql, username, { passwordHash: null }, new Date()));
  const invited = `User ${username} is invited by an email to ${email}; its link works once, within 72 hours.\n`;
  expect(await portal.run(['user', 'invite', email])).toEqual({ code: 0, out: invited, err: '' });
  const letter = await inbox.take(email, 'invitation');
  const hash = hashOf(letter.link);
  expect(letter.link).toBe(`${portal.origin}/portal/forgottenChange?hash=${hash}&invited=true&lang=en`);

  const heading = page.getByRole('heading', { level: 1 });
  await page.goto(letter.link);
  await expect(heading).toHaveText(texts['invitation-title']);
  await expect(page).toHaveURL(
    javaScriptEnabled ? '/portal/forgottenChange?invited=true&lang=en' : letter.link.slice(portal.origin.length),
  );
  await page.reload();
  await expect(heading).toHaveText(texts['invitation-title']);
  await expect(changeForm(page).hash).toHaveValue(hash);
  const button = page.getByRole('button', { name: texts['invitation-button'] });
  await page.getByLabel(texts['invitation-password'], { exact: true }).fill(newPassword);
  await page.getByLabel(texts['invitation-repeat'], { exact: true }).fill(newPassword);
  await button.click();
  await expect(heading).toHaveText(texts['invitation-done-title']);
  await expect(page.getByText(texts['invitation-done-text'])).toBeVisible();
  await page.getByRole('link', { name: texts['return-to-login'] }).click();
  await signInForm(page).send(username, newPassword);
  await expectSignedIn(page, username);

  await page.goto(letter.link);
  await expect(heading).toHaveText(texts['invitation-done-title']);
  for (const secret of [hash, newPassword]) expect(portal.log).not.toContain(secret);
});

test('an invitation: a passkey instead, in the words and on the way of a password', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const person = await newPerson();
  const { username, email } = person;
  const link = await invitationFor({ portal, inbox }, person);
  const authenticator = await VirtualAuthenticator.addTo(page);
  await withoutOffer(page);
  const heading = page.getByRole('heading', { level: 1 });
  const button = page.getByRole('button', { name: texts['passkey-instead'] });

  await page.goto(link);
  await authenticator.recognises(false);
  await button.click();
  await expect(page.getByText(texts['passkey-instead-none'])).toBeVisible();
  await authenticator.recognises(true);
  const letGo = await holdRequests(page, /\/passkeys\/invitation(?:\?|$)/);
  const fade = fadeOf(page);
  await button.click();
  await fade;
  letGo();
  await expect(heading).toHaveText(texts['invitation-passkey-done-title']);
  expect(await authenticator.passkeys()).toMatchObject([{ isResidentCredential: true, rpId: 'localhost' }]);
  await inbox.take(email, 'passkeyAdded');
  await page.getByRole('link', { name: texts['return-to-login'] }).click();
  await page.getByRole('button', { name: texts['login-passkey'] }).click();
  await expectSignedIn(page, username);

  await page.goto(link);
  await expect(heading).toHaveText(texts['invitation-passkey-done-title']);
});

test('the page of an invitation keeps its words and its button in another language, and after a reload', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const polish = textsOf('pl');
  const person = await newPerson();
  await page.goto(await invitationFor({ portal, inbox }, person));
  await expect(page.getByRole('button', { name: texts['passkey-instead'] })).toBeVisible();
  await page.getByLabel(texts.language).selectOption('pl');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(polish['invitation-title']);
  await expect(page.getByRole('button', { name: polish['passkey-instead'] })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(polish['invitation-title']);
  await expect(page.getByRole('button', { name: polish['passkey-instead'] })).toBeVisible();
  await expect(page.getByText(polish['page-account'].replace('{account}', person.username))).toBeVisible();
});

test('an invitation that only the script sees: the account is named before there is a button', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const person = await newPerson();
  const hash = new URL(await invitationFor({ portal, inbox }, person)).searchParams.get('hash');
  const letGo = await holdRequests(page, /\/passkeys\/invitation\/options/);
  const asked = page.waitForRequest(/\/passkeys\/invitation\/options/);
  await page.goto(`${portal.origin}/portal/forgottenChange?invited=true#/forgottenChange?hash=${hash}`);
  const button = page.getByRole('button', { name: texts['passkey-instead'] });
  await asked;
  await expect(button).toBeHidden();
  letGo();
  await expect(button).toBeVisible();
  await expect(page.getByText(texts['page-account'].replace('{account}', person.username))).toBeVisible();
});

test('the first press only names the account, where the server would not do so before', async ({
  page,
  portal,
  inbox,
  newPerson,
  watch,
}) => {
  watch.expect(/status of 503/);
  const person = await newPerson();
  const hash = new URL(await invitationFor({ portal, inbox }, person)).searchParams.get('hash');
  const authenticator = await VirtualAuthenticator.addTo(page);
  await page.route(/\/passkeys\/invitation\/options/, (route) => route.fulfill({ status: 503 }), { times: 1 });
  await page.goto(`${portal.origin}/portal/forgottenChange?invited=true#/forgottenChange?hash=${hash}`);
  const button = page.getByRole('button', { name: texts['passkey-instead'] });
  const name = page.getByText(texts['page-account'].replace('{account}', person.username));
  await expect(button).toBeVisible();
  await expect(name).toBeHidden();
  await button.click();
  await expect(name).toBeVisible();
  await expect(button).toBeFocused();
  expect(await authenticator.passkeys()).toEqual([]);
  await button.click();
  await expect(page.locator('h1')).toHaveText(texts['invitation-passkey-done-title']);
  expect(await authenticator.passkeys()).toHaveLength(1);
});

test('where only passkeys sign in: the page makes one and nothing else', async ({ page, portal, inbox, newPerson }) => {
  const customer = `keys-${Date.now()}`;
  await addCustomerTo(portal, customer, { passkeys: 'only' });
  const { username, email } = await newPerson({ customers: [customer] });
  await portal.mustRun(['user', 'invite', username]);
  const { link } = await inbox.take(email, 'invitation');
  const authenticator = await VirtualAuthenticator.addTo(page);
  await withoutOffer(page);
  const heading = page.getByRole('heading', { level: 1 });
  const button = page.getByRole('button', { name: texts['invitation-passkey-button'] });
  await page.goto(link);
  await expect(heading).toHaveText(texts['invitation-passkey-title']);
  await expect(page.getByLabel(texts['invitation-password'], { exact: true })).toHaveCount(0);
  await expect(button).toBeVisible();
  await page.reload();
  await expect(page.getByText(texts['passkey-no-script'])).toBeHidden();
  await authenticator.recognises(false);
  await button.click();
  await expect(page.getByText(texts['account-passkeys-none'])).toBeVisible();
  await authenticator.recognises(true);
  await button.click();
  await expect(heading).toHaveText(texts['invitation-passkey-done-title']);
  await page.getByRole('link', { name: texts['return-to-login'] }).click();
  await signInForm(page).send(username, password);
  await expect(heading).toHaveText(texts['login-fail-default-title']);
  await page.getByRole('link', { name: texts['return-to-login'] }).first().click();
  await page.getByRole('button', { name: texts['login-passkey'] }).click();
  await expectSignedIn(page, username);
});
