import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { clusterFolder } from '#server/embedded/cluster.ts';
import { findPostgresProcess } from '#server/embedded/process.ts';
import { isListening } from '#testing/free-port.ts';
import { axeScript, expectAccessible } from './axe.ts';
import { codeForm, recoveryCodes } from './code-form.ts';
import { DemoProcess } from './demo-process.ts';
import { signInForm } from './sign-in-form.ts';
import { expectFailure, ssoForm } from './single-sign-on-form.ts';
import { test as base } from './test.ts';
import { textsOf } from './texts.ts';
import { Watch } from './watch.ts';

// Not the tests of a portal, but in their worker, which would otherwise end here.
const test = base.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the pattern to know what the fixture needs
  baseURL: async ({}, use) => await use(undefined),
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the pattern to know what the fixture needs
  watch: async ({}, use) => await use(new Watch([])),
});

// One demo for the whole file.
test.describe.configure({ mode: 'default' });

let demo: DemoProcess;
test.beforeAll(async () => {
  demo = await DemoProcess.start();
});
test.afterAll(() => demo.discard());

const both = { tag: '@without-script' };
const texts = textsOf('en');

/** Opens a case by its link on the start page; returns the password that the page gives. */
async function openCase(page: Page, id: string): Promise<string> {
  await page.goto(demo.startPage);
  const card = page.locator(`#case-${id}`);
  const shown = await card.locator('code').allInnerTexts();
  await page.goto(new URL((await card.locator('a.button').getAttribute('href')) ?? '', demo.startPage).href);
  return shown[1] ?? '';
}

async function sendPassword(page: Page, password: string): Promise<void> {
  await signInForm(page).password.fill(password);
  await signInForm(page).button.click();
}

/** Sends the address that the case filled in, and picks somebody at the provider. */
async function pick(page: Page, email: string): Promise<void> {
  await ssoForm(page).button.click();
  await page.getByRole('button', { name: email }).click();
}

async function expectInHub(page: Page, username: string): Promise<void> {
  await expect(page.getByRole('heading', { name: `You are in, ${username}` })).toBeVisible();
}

/** The newest mail to somebody, by its text. */
async function mailTo(page: Page, email: string): Promise<string> {
  const mails = await page.context().newPage();
  const mail = mails.locator('.mail', { hasText: email }).first();
  await expect(async () => {
    await mails.goto(`${demo.startPage}inbox`);
    await expect(mail).toBeVisible({ timeout: 100 });
  }).toPass();
  const text = await mail.locator('pre').textContent();
  await mails.close();
  return text ?? '';
}

const codeIn = (mail: string) => (/\b\d{3} ?\d{3}\b/.exec(mail)?.[0] ?? '').replace(' ', '');

/** The code that the authenticator shows for somebody. */
async function appCodeOf(page: Page, username: string): Promise<string> {
  const codes = await page.context().newPage();
  await codes.goto(`${demo.startPage}authenticator`);
  const shown = await codes.locator('.app', { hasText: username }).locator('.code').innerText();
  await codes.close();
  return shown.replace(' ', '');
}

test.describe('name and password', () => {
  test('a plain sign-in ends in the hub, which knows who it is, and sign-out leads back', both, async ({ page }) => {
    await sendPassword(page, await openCase(page, 'plain'));
    await expectInHub(page, 'ada');
    await expect(page.getByText('Alder & Sons')).toBeVisible();
    await expect(page.locator('.headers')).toContainText('x-vestibule-email');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect(signInForm(page).username).toBeVisible();
  });

  test('a deep link survives the sign-in, fragment included', async ({ page }) => {
    const password = await openCase(page, 'deep-link');
    await signInForm(page).send('ada', password);
    await expect(page).toHaveURL(/\/hub\/reports\?year=2026&region=north#march$/);
    await expect(page.getByText('?year=2026&region=north#march')).toBeVisible();
  });

  test('only the customer that admits the network is told to the hub', async ({ page }) => {
    await sendPassword(page, await openCase(page, 'two-customers'));
    await expectInHub(page, 'nora');
    await expect(page.getByText('Alder & Sons')).toBeVisible();
    await expect(page.getByText('Dune Shipping')).toBeHidden();
  });

  test('a page for one customer is for that customer alone', async ({ page }) => {
    await signInForm(page).send('ada', await openCase(page, 'no-access'));
    await expect(page).toHaveURL(/\/hub\/energy$/);
    await expect(page.getByText('This page is for Elm Energy alone')).toBeHidden();
    await expect(page.getByRole('heading', { name: 'You don’t have access' })).toBeVisible();
  });

  for (const [id, type] of [
    ['wrong', 'default'],
    ['inactive', 'default'],
    ['network', 'ip'],
  ] as const)
    test(`${id}: refused`, both, async ({ page }) => {
      const password = await openCase(page, id);
      await sendPassword(page, id === 'wrong' ? 'anything' : password);
      await expect(page).toHaveURL(new RegExp(`/loginfail/${type}`));
      if (type === 'ip') await expect(page.getByText('127.0.0.1')).toBeVisible();
    });
});

test.describe('second factor', () => {
  test('the authenticator shows the code that the portal accepts', async ({ page }) => {
    await sendPassword(page, await openCase(page, 'app'));
    await expect(codeForm(page).field).toBeVisible();
    await codeForm(page).send(await appCodeOf(page, 'bea'));
    await expectInHub(page, 'bea');
  });

  test('an app that is being set up is in the authenticator at once', both, async ({ page, javaScriptEnabled }) => {
    await sendPassword(page, await openCase(page, 'app-new'));
    await expect(page.locator('.secret')).toBeVisible();
    await codeForm(page, javaScriptEnabled).send(await appCodeOf(page, 'ben'));
    await expect(recoveryCodes(page).first()).toBeVisible();
    // So is one that replaces it.
    await page.goto(`${demo.origins[0]}/portal/account/app`);
    await page.getByRole('link', { name: texts['account-app-button-replace'] }).click();
    await page.getByRole('button', { name: texts['account-app-button-replace'] }).click();
    await expect(page.getByRole('img', { name: texts['registration-qr'] })).toBeVisible();
    await page.getByLabel(texts['account-app-code']).fill(await appCodeOf(page, 'ben being set up'));
    await page.getByRole('button', { name: texts['account-app-button-replace'] }).click();
    await expect(recoveryCodes(page).first()).toBeVisible();
  });

  test('the code by email is in the mails', async ({ page }) => {
    await sendPassword(page, await openCase(page, 'email'));
    await expect(codeForm(page).field).toBeVisible();
    await codeForm(page).send(codeIn(await mailTo(page, 'carl@cedar.example')));
    await expectInHub(page, 'carl');
  });

  for (const [id, username, language] of [
    ['german', 'greta', 'de'],
    ['polish', 'piotr', 'pl'],
  ] as const)
    test(`${id}: screens and mail are in the language of the person`, async ({ page }) => {
      const password = await openCase(page, id);
      await expect(page.locator('html')).toHaveAttribute('lang', language);
      await page.locator('input[type=password]').fill(password);
      await page.locator('main form').first().getByRole('button').last().click();
      await expect(codeForm(page, true, language).field).toBeVisible();
      const mail = await mailTo(page, `${username}@cedar.example`);
      expect(mail).toContain(language === 'de' ? 'Code' : 'kod');
      await codeForm(page, true, language).send(codeIn(mail));
      await expectInHub(page, username);
    });
});

test.describe('single sign-on', () => {
  for (const [id, email] of [
    ['oidc', 'erik@elm.example'],
    ['oidc-new', 'nia@elm.example'],
    ['saml', 'faye@fir.example'],
  ] as const)
    test(`${id}: whoever is picked at the provider is in`, both, async ({ page, javaScriptEnabled }) => {
      await openCase(page, id);
      await pick(page, email);
      if (!javaScriptEnabled && id === 'saml') await page.getByRole('button', { name: 'Continue' }).click();
      await expectInHub(page, id === 'oidc-new' ? 'nia@elm.example' : (email.split('@')[0] as string));
    });

  test('a sign-out in the hub goes on to the provider and back', async ({ page }) => {
    await openCase(page, 'oidc');
    await pick(page, 'erik@elm.example');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect(page.getByRole('heading', { name: 'Signed out here too' })).toBeVisible();
    await page.getByRole('link', { name: 'Back to the portal' }).click();
    await expect(signInForm(page).username).toBeVisible();
  });

  test('the provider may begin, and the portal asks', async ({ page }) => {
    await openCase(page, 'saml-begins');
    await page.getByRole('button', { name: 'Open the hub' }).click();
    await expect(page.getByRole('heading', { name: 'Continue with your company’s sign‑in?' })).toBeVisible();
    await page.getByRole('main').getByRole('button').first().click();
    await page.getByRole('button', { name: 'faye@fir.example' }).click();
    await expectInHub(page, 'faye');
  });

  test('a password does not replace required single sign-on', async ({ page }) => {
    await sendPassword(page, await openCase(page, 'required'));
    await pick(page, 'gina@gorse.example');
    await expectInHub(page, 'gina');
  });

  for (const name of ['Hazel office', 'Hazel field staff'])
    test(`of two connections ${name} is chosen`, async ({ page }) => {
      await openCase(page, 'two-connections');
      await ssoForm(page).button.click();
      await page.getByRole('button', { name }).click();
      await page.getByRole('button', { name: 'hugo@hazel.example' }).click();
      await expectInHub(page, 'hugo');
    });
});

test.describe('a provider that fails', () => {
  test('cancel leads back', async ({ page }) => {
    await openCase(page, 'cancel');
    await ssoForm(page).button.click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expectFailure(page);
  });

  test('a SAML provider says so too', async ({ page }) => {
    await openCase(page, 'saml');
    await ssoForm(page).button.click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expectFailure(page, 'saml');
  });

  test('a wrong audience is refused', async ({ page }) => {
    await openCase(page, 'oidc-audience');
    await pick(page, 'erik@elm.example');
    await expectFailure(page);
  });

  test('an expired answer is refused', async ({ page }) => {
    await openCase(page, 'saml-expired');
    await pick(page, 'faye@fir.example');
    await expectFailure(page, 'saml');
  });

  test('a slow one is waited for', async ({ page }) => {
    await openCase(page, 'oidc-slow');
    await pick(page, 'erik@elm.example');
    await expect(page.getByRole('heading', { name: 'You are in, erik' })).toBeVisible({ timeout: 15_000 });
  });

  test('one that is down is noticed', async ({ page }) => {
    // What the portal has read of the provider a minute ago takes the visitor there; the rest it cannot get.
    await openCase(page, 'oidc-down');
    await pick(page, 'erik@elm.example');
    await expectFailure(page);
  });

  test('nobody gets in whom the portal does not know', async ({ page }) => {
    await openCase(page, 'stranger');
    await pick(page, 'mallory@fir.example');
    await expectFailure(page, 'saml');
  });

  for (const protocol of ['OpenID', 'SAML'])
    test(`faults of the ${protocol} provider are switched on its own page`, both, async ({ page }) => {
      await page.goto(demo.startPage);
      await page.getByRole('link', { name: `${protocol} provider` }).click();
      await page.getByLabel('Wrong audience').check();
      await page.getByRole('button', { name: 'Save' }).click();
      await expect(page.getByRole('status')).toHaveText('Saved. From now on: wrong audience.');
      await page.reload();
      await expect(page.getByLabel('Wrong audience')).toBeChecked();
    });
});

test.describe('forgotten password', () => {
  test('the link in the mail leads to a new password, which then counts', async ({ page }) => {
    await openCase(page, 'reset');
    await page.getByRole('main').getByRole('button').first().click();
    await expect(page).toHaveURL(/\/emailInfo/);
    const [link = ''] = /http:\S+/.exec(await mailTo(page, 'rosa@alder.example')) ?? [];
    await page.goto(link);
    for (const field of await page.locator('input[type=password]').all()) await field.fill('Granite-Lagoon-58');
    await page.getByRole('main').getByRole('button').last().click();
    await expect(page.getByRole('heading', { name: 'Password changed' })).toBeVisible();
    await page.goto(`${demo.origins[0]}/portal/login?login=rosa`);
    await sendPassword(page, 'Granite-Lagoon-58');
    await expectInHub(page, 'rosa');
  });

  test('whoever signs in by single sign-on gets a mail that says so', async ({ page }) => {
    await openCase(page, 'reset-sso');
    await page.getByRole('main').getByRole('button').first().click();
    await expect(page).toHaveURL(/\/emailInfo/);
    expect(await mailTo(page, 'erik@elm.example')).toMatch(/single sign|company/);
  });

  test('an expired link says so', both, async ({ page }) => {
    await openCase(page, 'expired-link');
    await expect(page.getByText(/expired/).first()).toBeVisible();
  });

  test('a mail arrives on the open page, by its HTML part, whose links can be followed', async ({ page, context }) => {
    await page.goto(`${demo.startPage}inbox`);
    const before = await page.locator('.mail').count();
    const visitor = await context.newPage();
    await visitor.goto(`${demo.origins[0]}/portal/forgotten?login=lena%40alder.example`);
    await visitor.getByRole('main').getByRole('button').first().click();
    await expect(page.locator('.mail')).toHaveCount(before + 1);
    const opened = context.waitForEvent('page');
    await page.frameLocator('.mail[open] iframe').getByRole('link', { name: 'password' }).first().click();
    await expect((await opened).getByRole('heading', { name: 'Choose a new password' })).toBeVisible();
  });
});

test('every link of the start page leads somewhere', async ({ page, request }) => {
  await page.goto(demo.startPage);
  const links = await page.locator('a').evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
  expect(links.length).toBeGreaterThan(30);
  for (const link of new Set(links)) {
    const status = (await request.get(link, { headers: { accept: 'text/html' } })).status();
    expect([link, status]).toEqual([link, link.endsWith('/open/not-found') ? 404 : 200]);
  }
});

test('looking around begins as a visitor, also after somebody signed in', both, async ({ page }) => {
  await sendPassword(page, await openCase(page, 'plain'));
  await expectInHub(page, 'ada');
  await page.goto(demo.startPage);
  const link = page.getByRole('link', { name: 'The portal', exact: true });
  await page.goto(new URL((await link.getAttribute('href')) ?? '', demo.startPage).href);
  await expect(signInForm(page).username).toHaveValue('');
});

test('the authenticator leads to the case that gives it an account, password and all', both, async ({ page }) => {
  await page.goto(`${demo.startPage}authenticator`);
  await page.getByRole('link', { name: 'Set up an app' }).click();
  await expect(page.locator('#case-app-new dl')).toBeInViewport();
});

test('the pages of the demo are accessible, and fit a phone', async ({ page }) => {
  await page.addInitScript({ path: axeScript });
  await page.setViewportSize({ width: 320, height: 640 });
  const fits = async () => {
    await expectAccessible(page);
    const [content, width] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(content, page.url()).toBe(width);
  };
  for (const path of ['', 'inbox', 'authenticator', 'open/saml-begins']) {
    await page.goto(demo.startPage + path);
    await fits();
  }
  await sendPassword(page, await openCase(page, 'plain'));
  await expectInHub(page, 'ada');
  await fits();
  await openCase(page, 'oidc');
  await ssoForm(page).button.click();
  await expect(page.getByRole('heading', { name: 'Who are you?' })).toBeVisible();
  await fits();
});

test('the password of a case is copied by its link, and a value by its button', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(demo.startPage).origin });
  await page.goto(demo.startPage);
  const [name, password] = await page.locator('#case-plain code').allInnerTexts();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page
    .getByRole('button', { name: `Copy ${name}` })
    .first()
    .click();
  expect(await copied()).toBe(name);
  await page.locator('#case-plain a.button').click();
  await page.bringToFront();
  await expect.poll(copied).toBe(password);
});

test('a name of this machine is required, so that no page elsewhere reads the passwords', async ({ request }) => {
  const answer = await request.get(demo.startPage, { headers: { host: 'attacker.example' } });
  expect(answer.status()).toBe(421);
});

test('prints where to begin and every account', async ({ page }) => {
  await page.goto(demo.startPage);
  for (const password of await page.locator('.case code:nth-of-type(1)').allInnerTexts())
    expect(demo.output).toContain(password);
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

test('says so if its port is taken, and leaves nothing', async () => {
  const other = await DemoProcess.launch({ port: demo.port });
  const { code, left } = await other.ended();
  expect({ code, left }).toEqual({ code: 3, left: [] });
  expect(other.output).toContain(`The demo cannot start: port ${demo.port}`);
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

for (const wait of [100, 700, 1500])
  test(`Ctrl-C ${wait} ms after the start ends it too`, async () => {
    const other = await DemoProcess.launch();
    await new Promise((resolve) => setTimeout(resolve, wait));
    const { left } = await other.end('SIGINT');
    expect(left).toEqual([]);
    await other.discard();
  });
