import { expectSignedIn, heading, signIn, signInForm } from './forms.ts';
import { addCustomerTo, invitationFor } from './portal-accounts.ts';
import { expect, password, test } from './test.ts';
import { texts } from './texts.ts';
import { addPasskey, passkeyButton, VirtualAuthenticator, withoutOffer } from './virtual-authenticator.ts';

const asked = '/portal/portal.html?tab=2#/reports/7';

test('one that an operator has removed is refused', async ({ page, context, newPerson, portal }) => {
  const { username } = await newPerson();
  await withoutOffer(page);
  const authenticator = await VirtualAuthenticator.addTo(page);
  await signIn(page, username, password);
  await addPasskey(page);
  const [{ id }] = JSON.parse(await portal.mustRun(['user', 'passkeys', username, '--json'])) as [{ id: string }];
  await portal.mustRun(['user', 'passkeys', username, '--remove', id]);
  await context.clearCookies();
  await page.goto('/portal/login');
  await passkeyButton(page).click();
  await expect(heading(page)).toHaveText(texts['login-fail-passkey-title']);
  // The browser has heard of it (signalUnknownCredential).
  await expect.poll(() => authenticator.passkeys()).toEqual([]);
});

test('where an app is required, the password alone leads to the passkey, not to a QR code', async ({
  page,
  context,
  portal,
  newPerson,
}) => {
  const key = `stern-${Date.now()}`;
  await addCustomerTo(portal, key);
  const { username } = await newPerson({ customers: [key] });
  await withoutOffer(page);
  await VirtualAuthenticator.addTo(page);
  await signIn(page, username, password);
  await addPasskey(page);
  await portal.mustRun(['customer', 'set', key, '--two-factor', 'app']);
  await context.clearCookies();
  await page.goto(asked);
  await signInForm(page).send(username, password);
  await expect(heading(page)).toHaveText(texts['login-passkey']);
  await passkeyButton(page).click();
  await expectSignedIn(page, username);
  await expect(page).toHaveURL(asked);
});

test('from outside the networks of a customer none opens it', async ({ page, context, portal, newPerson }) => {
  const key = `moves-${Date.now()}`;
  await addCustomerTo(portal, key);
  const { username } = await newPerson({ customers: [key] });
  await withoutOffer(page);
  await VirtualAuthenticator.addTo(page);
  await signIn(page, username, password);
  await addPasskey(page);
  await portal.mustRun(['customer', 'set', key, '--allow-network', '203.0.113.0/24']);
  await context.clearCookies();
  await page.goto('/portal/login');
  await passkeyButton(page).click();
  await expect(heading(page)).toHaveText(texts['login-fail-ip-title']);
});

test('an invitation: a passkey instead, in the words and on the way of a password', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const person = await newPerson();
  const link = await invitationFor({ portal, inbox }, person);
  const authenticator = await VirtualAuthenticator.addTo(page);
  await withoutOffer(page);
  const button = page.getByRole('button', { name: texts['passkey-instead'] });
  await page.goto(link);
  await authenticator.recognises(false);
  await button.click();
  await expect(page.getByText(texts['passkey-instead-none'])).toBeVisible();
  await authenticator.recognises(true);
  await button.click();
  await expect(heading(page)).toHaveText(texts['invitation-passkey-done-title']);
  await inbox.take(person.email, 'passkeyAdded');
  await page.getByRole('link', { name: texts['return-to-login'] }).click();
  await passkeyButton(page).click();
  await expectSignedIn(page, person.username);
  await page.goto(link);
  await expect(heading(page)).toHaveText(texts['invitation-passkey-done-title']);
});

test('where only passkeys sign in: the page makes one and nothing else', async ({ page, portal, inbox, newPerson }) => {
  const customer = `keys-${Date.now()}`;
  await addCustomerTo(portal, customer, { passkeys: 'only' });
  const { username, email } = await newPerson({ customers: [customer] });
  await portal.mustRun(['user', 'invite', username]);
  const { link } = await inbox.take(email, 'invitation');
  await VirtualAuthenticator.addTo(page);
  await withoutOffer(page);
  await page.goto(link);
  await expect(heading(page)).toHaveText(texts['invitation-passkey-title']);
  await expect(page.getByLabel(texts['invitation-password'], { exact: true })).toHaveCount(0);
  await page.getByRole('button', { name: texts['invitation-passkey-button'] }).click();
  await expect(heading(page)).toHaveText(texts['invitation-passkey-done-title']);
  await page.getByRole('link', { name: texts['return-to-login'] }).click();
  await signInForm(page).send(username, password);
  await expect(heading(page)).toHaveText(texts['login-fail-default-title']);
  await page.getByRole('link', { name: texts['return-to-login'] }).first().click();
  await passkeyButton(page).click();
  await expectSignedIn(page, username);
});
