import { join } from 'node:path';
import { networkAddresses } from '#demo/place.ts';
import { clusterFolder } from '#server/database/embedded/cluster.ts';
import { findPostgresProcess } from '#server/database/embedded/process.ts';
import { isListening } from '../support/free-port.ts';
import { axeScript, expectAccessible } from './accessibility-faults.ts';
import { DemoProcess, test } from './demo-under-test.ts';
import { codeForm, expectFailure, signInForm, ssoForm } from './forms.ts';
import { expect } from './test.ts';

// The cases beyond those of demo.spec.ts: each does what its card says.
test.describe.configure({ mode: 'default', timeout: 120_000 });

test('what the hub is told: the deep link with its fragment, and customers that admit the network alone', async ({
  page,
  demo,
}) => {
  await signInForm(page).send('ada', await demo.open('deep-link'));
  await expect(page).toHaveURL(/\/hub\/reports\?year=2026&region=north#march$/);
  await demo.sendPassword(await demo.open('two-customers'));
  await demo.expectInHub('nora');
  await expect(page.locator('.lede')).toContainText('Alder & Sons');
  await expect(page.locator('.lede')).not.toContainText('Dune Shipping');
});

test('what is refused: a password, an inactive user, a network, and whatever a provider does wrong', async ({
  page,
  demo,
}) => {
  for (const [id, type] of [
    ['inactive', 'default'],
    ['network', 'ip'],
  ] as const) {
    await demo.sendPassword(await demo.open(id));
    await expect(page, id).toHaveURL(new RegExp(`/loginfail/${type}`));
  }
  for (const [id, email, type] of [
    ['oidc-audience', 'erik@elm.example', 'oidc'],
    ['saml-expired', 'faye@fir.example', 'saml'],
    ['oidc-down', 'erik@elm.example', 'oidc'],
    ['stranger', 'mallory@fir.example', 'saml'],
  ] as const) {
    await demo.open(id);
    await demo.pick(email);
    await expectFailure(page, type);
  }
});

test('a provider: it makes an account and is signed out of, begins by itself, and goes wrong on its own page', async ({
  page,
  demo,
}) => {
  await demo.open('oidc-new');
  await demo.pick('nia@elm.example');
  await demo.expectInHub('nia@elm.example');
  await demo.signOut();
  await expect(page.getByRole('heading', { name: 'Signed out here too' })).toBeVisible();
  await page.getByRole('link', { name: 'Back to the portal' }).click();
  await expect(signInForm(page).username).toBeVisible();

  await demo.open('saml-begins');
  await page.getByRole('button', { name: 'Open the hub' }).click();
  await page.getByRole('button', { name: 'faye@fir.example' }).click();
  await demo.expectInHub('faye');

  await page.goto(demo.startPage);
  await page.getByRole('link', { name: 'SAML provider' }).click();
  // As it was, for the next.
  for (const [fault, said] of [
    ['Wrong audience', /^Saved. From now on: wrong audience\.$/],
    ['As it should', /^Saved/],
  ] as const) {
    await page.getByLabel(fault).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('status')).toHaveText(said);
    await expect(page.getByLabel(fault)).toBeChecked();
  }
});

test('a mail arrives on the open page; the link in it leads to a new password; an expired one says so', async ({
  page,
  context,
  demo,
}) => {
  await page.goto(`${demo.startPage}inbox`);
  const before = await page.locator('.mail').count();
  const visitor = await context.newPage();
  await visitor.goto(`${demo.process.origins[0]}/portal/forgotten?login=lena%40alder.example`);
  await visitor.getByRole('main').getByRole('button').first().click();
  await expect(page.locator('.mail')).toHaveCount(before + 1);
  const opened = context.waitForEvent('page');
  await page.frameLocator('.mail[open] iframe').getByRole('link', { name: 'password' }).first().click();
  const changing = await opened;
  for (const field of await changing.locator('input[type=password]').all()) await field.fill('Granite-Lagoon-58');
  await changing.getByRole('main').getByRole('button').last().click();
  await expect(changing.getByRole('heading', { name: 'Password changed' })).toBeVisible();
  await demo.open('expired-link');
  await expect(page.getByText(/expired/).first()).toBeVisible();
});

test('a reference leads to what support sees, a recovery code and an invitation lead in, a browser is remembered', async ({
  page,
  demo,
}) => {
  await demo.open('wrong');
  await signInForm(page).password.fill('Not-Her-Password-1');
  await signInForm(page).button.click();
  const reference = await page.locator('code').first().innerText();
  await page
    .getByRole('main')
    .getByRole('link', { name: /support/i })
    .click();
  await expect(page.locator('details[open]')).toContainText(reference);
  await expect(page.locator('details[open]')).toContainText('wrong-password: wrong password');

  await demo.sendPassword(await demo.open('recovery'));
  const code = await demo.codeShownBy('recovery');
  await page.getByText('recovery code').first().click();
  await page.getByLabel(/recovery code/i).fill(code);
  await page.getByRole('main').getByRole('button').first().click();
  await page.getByRole('main').getByRole('link').first().click();
  await demo.expectInHub('rita');

  const password = await demo.open('remembered');
  await demo.sendPassword(password);
  await page.getByRole('checkbox').check();
  await codeForm(page).send(await demo.appCodeOf('bea'));
  await demo.expectInHub('bea');
  await demo.signOut();
  await signInForm(page).send('bea', password);
  await demo.expectInHub('bea');

  await demo.open('invitation');
  await expect(page.locator('.mail', { hasText: 'ines@alder.example' })).toBeVisible();
});

test('the desk: a reference leads to the wait and lifts it, a network is rehearsed, an operator sees every customer', async ({
  page,
  demo,
}) => {
  await demo.comeToDesk('desk-support', 'sam');
  const reference = await demo.codeShownBy('desk-support');
  await page.getByRole('searchbox').fill(reference);
  await page.getByRole('main').getByRole('link', { name: reference }).click();
  await expect(page.getByRole('heading', { name: 'Lars Holm', exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Lift the wait' }).click();
  await expect(page.locator('.alert .reference, .alert code')).toBeVisible();
  await expect(page.getByText(/^Waits until/)).toHaveCount(0);

  await demo.comeToDesk('desk-administrator', 'hana');
  await page.getByLabel('Approved networks').fill('198.51.100.0/24');
  await page.getByRole('button', { name: 'Rehearse' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'these 4 would have been refused' })).toBeVisible();
  await expect(page.getByText('Its client secret expires')).toBeVisible();
  await expect(page.getByRole('row', { name: /Iris Lund.*Invited/ })).toBeVisible();

  await demo.comeToDesk('desk-operator', 'olga');
  await expect(page.getByRole('row')).toHaveCount(10);
});

test('in a network, the demo answers by https, single sign-on included', async ({ browser }) => {
  const [host] = networkAddresses();
  test.skip(host === undefined, 'this machine is in no network');
  const demo = await DemoProcess.start({ host });
  expect(demo.output).toContain(`Whoever reaches ${host} can open the demo`);
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await page.goto(`${demo.startPage}open/oidc`);
  await ssoForm(page).button.click();
  await page.getByRole('button', { name: 'erik@elm.example' }).click();
  await expect(page.locator('.headers')).toContainText('erik');
  expect(new URL(page.url()).hostname).toBe(host);
  await context.close();
  await demo.discard();
});

test('the pages of the demo are accessible, fit a phone, and are for a name of this machine alone', async ({
  page,
  request,
  demo,
}) => {
  await page.addInitScript({ path: axeScript });
  await page.setViewportSize({ width: 320, height: 640 });
  for (const path of ['', 'inbox', 'authenticator', 'explain', 'brand', 'open/saml-begins']) {
    await page.goto(demo.startPage + path);
    await expectAccessible(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBe(320);
  }
  const answer = await request.get(demo.startPage, { headers: { host: 'attacker.example' } });
  expect(answer.status()).toBe(421);
});

test('a signal ends all of it and leaves nothing; a taken port is named; the next demo removes what a killed one left', async ({
  demo,
}) => {
  const other = await DemoProcess.start();
  const ports = other.origins.map((origin) => Number(new URL(origin).port));
  expect(await Promise.all(ports.map(isListening))).toEqual([true, true]);
  expect(await other.end('SIGTERM')).toEqual({ code: 0, left: [] });
  expect(await Promise.all(ports.map(isListening))).toEqual([false, false]);
  await other.discard();

  const late = await DemoProcess.start({ port: demo.process.port });
  expect(await late.end()).toEqual({ code: 1, left: [] });
  expect(late.output).toContain(`The demo cannot start: port ${demo.process.port}`);
  await late.discard();

  const killed = await DemoProcess.start();
  const { left } = await killed.end('SIGKILL');
  expect(left).toHaveLength(1);
  const next = await DemoProcess.start({ folder: killed.folder });
  expect(await next.end('SIGINT')).toEqual({ code: 0, left: [] });
  expect(await findPostgresProcess(clusterFolder(join(killed.folder, left[0] as string, 'data')))).toBeNull();
  await next.discard();
});
