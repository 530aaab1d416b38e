import { join } from 'node:path';
import { clusterFolder } from '#server/database/embedded/cluster.ts';
import { findPostgresProcess } from '#server/database/embedded/process.ts';
import { isListening } from '../support/free-port.ts';
import { axeScript, expectAccessible } from './axe.ts';
import { codeForm, recoveryCodes } from './code-form.ts';
import { DemoProcess } from './demo-process.ts';
import { codeIn, test } from './demo-visit.ts';
import { signInForm } from './sign-in-form.ts';
import { expectFailure, ssoForm } from './single-sign-on-form.ts';
import { expect } from './test.ts';
import { textsOf } from './texts.ts';

// The cases beyond those of demo.spec.ts.
test.describe.configure({ mode: 'default' });

const both = { tag: '@without-script' };
const texts = textsOf('en');

test('a deep link survives the sign-in, fragment included', async ({ page, demo }) => {
  await signInForm(page).send('ada', await demo.open('deep-link'));
  await expect(page).toHaveURL(/\/hub\/reports\?year=2026&region=north#march$/);
});

test('the hub is told of customers that admit the network alone', async ({ page, demo }) => {
  await demo.sendPassword(await demo.open('two-customers'));
  await demo.expectInHub('nora');
  await expect(page.getByText('Alder & Sons')).toBeVisible();
  await expect(page.getByText('Dune Shipping')).toBeHidden();
});

for (const [id, type] of [
  ['wrong', 'default'],
  ['inactive', 'default'],
  ['network', 'ip'],
] as const)
  test(`${id}: refused`, async ({ page, demo }) => {
    const password = await demo.open(id);
    await demo.sendPassword(id === 'wrong' ? 'anything' : password);
    await expect(page).toHaveURL(new RegExp(`/loginfail/${type}`));
  });

test(
  'an app that is being set up, or replaced, is in the authenticator at once',
  both,
  async ({ page, demo, javaScriptEnabled }) => {
    await demo.sendPassword(await demo.open('app-new'));
    await expect(page.locator('.secret')).toBeVisible();
    await codeForm(page, javaScriptEnabled).send(await demo.appCodeOf('ben'));
    await expect(recoveryCodes(page).first()).toBeVisible();
    await page.goto(`${demo.process.origins[0]}/portal/account/app`);
    await page.getByRole('link', { name: texts['account-app-button-replace'] }).click();
    await page.getByLabel(texts['account-app-code']).fill(await demo.appCodeOf('ben being set up'));
    await page.getByRole('button', { name: texts['account-app-button-replace'] }).click();
    await expect(recoveryCodes(page).first()).toBeVisible();
  },
);

for (const [id, username, language] of [
  ['german', 'greta', 'de'],
  ['polish', 'piotr', 'pl'],
] as const)
  test(`${id}: screens and mail are in the language of the person`, async ({ page, demo }) => {
    const password = await demo.open(id);
    await expect(page.locator('html')).toHaveAttribute('lang', language);
    await page.locator('input[type=password]').fill(password);
    await page.locator('main form').first().getByRole('button').last().click();
    await expect(codeForm(page, true, language).field).toBeVisible();
    await codeForm(page, true, language).send(codeIn(await demo.mailTo(`${username}@cedar.example`)));
    await demo.expectInHub(username);
  });

test('whoever the hub has never seen is made an account; a sign-out goes on to the provider and back', async ({
  page,
  demo,
}) => {
  await demo.open('oidc-new');
  await demo.pick('nia@elm.example');
  await demo.expectInHub('nia@elm.example');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByRole('heading', { name: 'Signed out here too' })).toBeVisible();
  await page.getByRole('link', { name: 'Back to the portal' }).click();
  await expect(signInForm(page).username).toBeVisible();
});

test('the provider may begin, and the portal asks it who it is', async ({ page, demo }) => {
  await demo.open('saml-begins');
  await page.getByRole('button', { name: 'Open the hub' }).click();
  await page.getByRole('button', { name: 'faye@fir.example' }).click();
  await demo.expectInHub('faye');
});

test('a password does not replace required single sign-on', async ({ demo }) => {
  await demo.sendPassword(await demo.open('required'));
  await demo.pick('gina@gorse.example');
  await demo.expectInHub('gina');
});

test('of two connections one is chosen', async ({ page, demo }) => {
  await demo.open('two-connections');
  await ssoForm(page).button.click();
  await page.getByRole('button', { name: 'Hazel field staff' }).click();
  await page.getByRole('button', { name: 'hugo@hazel.example' }).click();
  await demo.expectInHub('hugo');
});

for (const [id, email, type] of [
  ['oidc-audience', 'erik@elm.example', 'oidc'],
  ['saml-expired', 'faye@fir.example', 'saml'],
  ['oidc-down', 'erik@elm.example', 'oidc'],
  ['stranger', 'mallory@fir.example', 'saml'],
] as const)
  test(`a provider that fails, ${id}: refused`, async ({ page, demo }) => {
    await demo.open(id);
    await demo.pick(email);
    await expectFailure(page, type);
  });

test('faults of a provider are switched on its own page', both, async ({ page, demo }) => {
  for (const protocol of ['OpenID', 'SAML']) {
    await page.goto(demo.startPage);
    await page.getByRole('link', { name: `${protocol} provider` }).click();
    await page.getByLabel('Wrong audience').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('status')).toHaveText('Saved. From now on: wrong audience.');
    await page.reload();
    await expect(page.getByLabel('Wrong audience')).toBeChecked();
    // As it was, for the next.
    await page.getByLabel('As it should').check();
    await page.getByRole('button', { name: 'Save' }).click();
  }
});

test('the link in the mail leads to a new password, which then counts; an expired one says so', async ({
  page,
  demo,
}) => {
  await demo.open('reset');
  await page.getByRole('main').getByRole('button').first().click();
  await expect(page).toHaveURL(/\/emailInfo/);
  const [link = ''] = /http:\S+/.exec(await demo.mailTo('rosa@alder.example')) ?? [];
  await page.goto(link);
  for (const field of await page.locator('input[type=password]').all()) await field.fill('Granite-Lagoon-58');
  await page.getByRole('main').getByRole('button').last().click();
  await expect(page.getByRole('heading', { name: 'Password changed' })).toBeVisible();
  await page.goto(`${demo.process.origins[0]}/portal/login?login=rosa`);
  await demo.sendPassword('Granite-Lagoon-58');
  await demo.expectInHub('rosa');
  await demo.open('expired-link');
  await expect(page.getByText(/expired/).first()).toBeVisible();
});

test('a mail arrives on the open page, by its HTML part, whose links can be followed', async ({
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
  await expect((await opened).getByRole('heading', { name: 'Choose a new password' })).toBeVisible();
});

test('looking around begins as a visitor, also after somebody signed in', async ({ page, demo }) => {
  await demo.sendPassword(await demo.open('plain'));
  await demo.expectInHub('ada');
  await page.goto(demo.startPage);
  const link = page.getByRole('link', { name: 'The portal', exact: true });
  await page.goto(new URL((await link.getAttribute('href')) ?? '', demo.startPage).href);
  await expect(signInForm(page).username).toHaveValue('');
});

test('the pages of the demo are accessible, and fit a phone', async ({ page, demo }) => {
  await page.addInitScript({ path: axeScript });
  await page.setViewportSize({ width: 320, height: 640 });
  for (const path of ['', 'inbox', 'authenticator', 'open/saml-begins']) {
    await page.goto(demo.startPage + path);
    await expectAccessible(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBe(320);
  }
});

test('a name of this machine is required, so that no page elsewhere reads the passwords', async ({ request, demo }) => {
  const answer = await request.get(demo.startPage, { headers: { host: 'attacker.example' } });
  expect(answer.status()).toBe(421);
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  test(`${signal} ends all of it and leaves nothing`, async () => {
    const other = await DemoProcess.start();
    const ports = other.origins.map((origin) => Number(new URL(origin).port));
    expect(await Promise.all(ports.map(isListening))).toEqual([true, true]);
    expect(await other.end(signal)).toEqual({ code: 0, left: [] });
    expect(await Promise.all(ports.map(isListening))).toEqual([false, false]);
    await other.discard();
  });

test('says so if its port is taken, and leaves nothing', async ({ demo }) => {
  const other = await DemoProcess.launch({ port: demo.process.port });
  const { code, left } = await other.ended();
  expect({ code, left }).toEqual({ code: 3, left: [] });
  expect(other.output).toContain(`The demo cannot start: port ${demo.process.port}`);
  await other.discard();
});

test('what a killed demo left is removed by the next one', async () => {
  const killed = await DemoProcess.start();
  const { left } = await killed.end('SIGKILL');
  expect(left).toHaveLength(1);
  const next = await DemoProcess.start({ folder: killed.folder });
  expect(await next.end('SIGINT')).toEqual({ code: 0, left: [] });
  expect(await findPostgresProcess(clusterFolder(join(killed.folder, left[0] as string, 'data')))).toBeNull();
  await next.discard();
});

test('Ctrl-C at once after the start ends it too', async () => {
  const other = await DemoProcess.launch();
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect((await other.end('SIGINT')).left).toEqual([]);
  await other.discard();
});
