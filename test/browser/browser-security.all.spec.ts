import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import {
  changeForm,
  expectSignedIn,
  hashOf,
  heading,
  linkFor,
  newPassword,
  signIn,
  signInForm,
  signOutButton,
} from './forms.ts';
import { test as base, expect, password } from './test.ts';

const test = base.extend<{ attacker: Awaited<ReturnType<typeof startAttackerSite>> }>({
  attacker: async ({ watch }, use) => {
    const attacker = await startAttackerSite();
    watch.know(attacker.foreignOrigin);
    watch.know(attacker.neighbourOrigin);
    await use(attacker);
    attacker.close();
  },
});

/** A foreign site that serves whatever a test puts there. */
async function startAttackerSite() {
  const pages = new Map<string, string>();
  const server = createServer((request, answer) => {
    const html = pages.get(request.url ?? '');
    answer.writeHead(html === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    answer.end(`<!doctype html><link rel="icon" href="data:,">${html ?? ''}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    /** A different site from localhost. */
    foreignOrigin: `http://127.0.0.1:${port}`,
    /** Another origin of the same site: cookies ignore ports. */
    neighbourOrigin: `http://localhost:${port}`,
    put: (path: string, html: string) => void pages.set(path, html),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const sessionCookies = async (page: Page) =>
  (await page.context().cookies()).filter(({ name }) => name.includes('session'));

test('HD-04: no other origin can frame the pages', async ({ page, attacker, portal, watch }) => {
  watch.expect(/frame-ancestors|refused to connect|X-Frame-Options/i);
  attacker.put('/', `<h1>Prize</h1><iframe src="${portal.origin}/portal/login" title="bait"></iframe>`);
  for (const origin of [attacker.foreignOrigin, attacker.neighbourOrigin]) {
    const blocked = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()));
    await page.goto(`${origin}/`);
    await blocked;
    await expect(page.frameLocator('iframe').getByRole('textbox')).toHaveCount(0);
  }
});

test('HD-05: a page that opens the portal has no handle on it, and vice versa', async ({ page, attacker, portal }) => {
  attacker.put(
    '/',
    `<button onclick="handle = window.open('${portal.origin}/portal/login')">Open</button><button onclick="document.title = handle.closed">Look</button>`,
  );
  await page.goto(`${attacker.neighbourOrigin}/`);
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByText('Open').click()]);
  await expect(heading(popup)).toHaveText('Sign in');
  expect(await popup.evaluate(() => window.opener)).toBeNull();
  await page.getByText('Look').click();
  await expect(page).toHaveTitle('true');
});

test('CS-09: pages prefetched by a foreign page count for nobody’s address', async ({
  page,
  attacker,
  portal,
  watch,
}) => {
  watch.expect(/403/);
  const path = '/portal/authenticate/saml/logout';
  const urls = Array.from({ length: 20 }, (_, n) => `${portal.origin}${path}?SAMLRequest=ahead${n}`);
  const rules = { prefetch: [{ source: 'list', urls, eagerness: 'immediate' }] };
  attacker.put('/', `<h1>Prize</h1><script type="speculationrules">${JSON.stringify(rules)}</script>`);
  await page.goto(`${attacker.foreignOrigin}/`);
  const answered = () => portal.log.split('\n').filter((line) => line.includes(path) && line.includes('"status"'));
  await expect.poll(() => answered().length).toBeGreaterThan(5);
  for (const line of answered()) expect(JSON.parse(line)).toMatchObject({ status: 403 });
});

test('HD-06: there is no service worker', async ({ page }) => {
  await page.goto('/portal/login');
  expect(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(0);
  for (const path of ['/sw.js', '/portal/sw.js', '/service-worker.js', '/portal/assets/sw.js'])
    expect((await page.request.get(path)).status(), path).toBe(404);
});

test('HD-07: an injected script does not run', async ({ page, watch }) => {
  watch.expect(
    /policy: script-src-(?:elem|attr)/,
    /violates the following (?:directive|Content Security Policy)|'TrustedScript'/,
  );
  await page.goto('/portal/login');
  const ran = await page.evaluate(async () => {
    const script = document.createElement('script');
    const violation = new Promise((resolve) => addEventListener('securitypolicyviolation', resolve, { once: true }));
    try {
      script.textContent = 'document.title = "taken"';
    } catch {
      return 'refused by trusted types';
    }
    document.body.append(script);
    await violation;
    return document.title;
  });
  expect(ran).not.toBe('taken');
});

test('CS-08: a form on another site signs nobody in', async ({ page, attacker, portal, watch }) => {
  watch.expect(/status of 403/);
  attacker.put(
    '/',
    `<form method="post" action="${portal.origin}/portal/performlogin">
      <input name="username" value="ada"><input name="password" value="${password}"><button>Win</button></form>`,
  );
  for (const origin of [attacker.foreignOrigin, attacker.neighbourOrigin]) {
    await page.goto(`${origin}/`);
    const answered = page.waitForResponse('**/performlogin');
    await page.getByText('Win').click();
    expect((await answered).status()).toBe(403);
    await expect(heading(page)).toHaveText('That request wasn’t accepted');
    expect(await sessionCookies(page)).toEqual([]);
    await page.getByRole('link', { name: 'Return to sign-in' }).click();
    await expect(page).toHaveURL(`${portal.origin}/portal/login`);
    await expect(signInForm(page).username).toBeVisible();
  }
});

test('CS-11: no image, prefetch or frame of another site signs anyone out, and a link asks first', async ({
  page,
  attacker,
  portal,
  watch,
}) => {
  watch.expect(/status of 403|ERR_BLOCKED_BY|frame-ancestors|NotSameOrigin/i);
  const logout = `${portal.origin}/portal/logout`;
  attacker.put(
    '/',
    `<img src="${logout}" alt=""><link rel="prefetch" href="${logout}"><link rel="stylesheet" href="${logout}">
     <script type="speculationrules">{"prefetch":[{"urls":["${logout}"]}],"prerender":[{"urls":["${logout}"]}]}</script>
     <script>fetch("${logout}", { credentials: 'include', mode: 'no-cors' }).catch(() => {})</script>
     <iframe src="${logout}" title="bait"></iframe>
     <form method="get" action="${logout}"><button>Form</button></form><a href="${logout}">Link</a>`,
  );
  await signIn(page, 'ada', password);
  for (const origin of [attacker.foreignOrigin, attacker.neighbourOrigin]) {
    await page.goto(`${origin}/`, { waitUntil: 'networkidle' });
    await page.goto('/portal/portal.html');
    await expectSignedIn(page, 'ada');
    for (const way of ['Form', 'Link']) {
      await page.goto(`${origin}/`);
      await page.getByText(way).click();
      await expect(heading(page)).toHaveText('Sign out?');
      // Our own page asks for it again now: when another tab signs in, by the language menu without a script.
      await page.evaluate(() => location.reload());
      await expect(page.getByRole('combobox', { name: 'Language' })).toBeEnabled();
      await page.goto('/portal/portal.html');
      await expectSignedIn(page, 'ada');
    }
  }
  await page.goto(`${attacker.foreignOrigin}/`);
  await page.getByText('Link').click();
  await signOutButton(page).click();
  await expect(heading(page)).toHaveText('Sign in');
  expect(await sessionCookies(page)).toEqual([]);
});

test('SE-15: the next user of this browser finds nothing of the previous one’s', async ({ page, context }) => {
  await page.goto('/portal/portal.html?tab=of-ada#/reports/of-ada');
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html?tab=of-ada#/reports/of-ada');
  await signOutButton(page).click();
  await expect(signInForm(page).username).toHaveValue('');
  const kept = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie]));
  expect(kept).not.toContain('ada');
  expect(await sessionCookies(page)).toEqual([]);
  for (const { value } of await context.cookies()) expect(Buffer.from(value, 'base64').toString()).not.toContain('ada');
  await signInForm(page).send('bob', password);
  await expect(page).toHaveURL('/portal/portal.html');
  await expectSignedIn(page, 'bob');
  expect(await page.content()).not.toContain('ada');
});

const lures = [
  '<script>document.title="taken"</script>',
  '"><img src=x onerror="document.title=`taken`">',
  '</script><svg onload="document.title=`taken`">',
  'javascript:document.title="taken"',
] as const;

test('IN-02: a name in the address, or of a failed attempt, is always treated as text', async ({ page }) => {
  for (const lure of lures) {
    await page.goto(`/portal/login?${new URLSearchParams({ login: lure })}`);
    await expect(signInForm(page).username).toHaveValue(lure);
    await expect(page).toHaveTitle('Sign in · Vestibule');
    await expect(page.getByRole('main').locator('img, script')).toHaveCount(0);
  }
  const [, lure] = lures;
  await signInForm(page).send(lure, 'wrong');
  await page.getByRole('link', { name: 'Return to sign-in' }).click();
  await expect(signInForm(page).username).toHaveValue(lure);
  await expect(page).toHaveTitle('Sign in · Vestibule');
});

test('IN-04: an unknown address is shown as text, and truncated', async ({ page, watch }) => {
  watch.expect(/status of 404/);
  for (const path of [
    '<svg onload=document.title="taken">',
    '%3Cscript%3Edocument.title=%22taken%22%3C/script%3E',
    `a?b=</script><script>document.title='taken'</script>`,
    'x'.repeat(8000),
  ]) {
    await page.goto(`/portal/${path}`);
    await expect(page).toHaveTitle('Page not found · Vestibule');
    const shown = (await page.getByText(/^Address/).textContent()) ?? '';
    expect(shown.length).toBeLessThan(250);
    await expect(page.getByRole('main').locator('script, [onload]')).toHaveCount(0);
  }
});

test('no page loads anything from third parties or leaks to them through the address', async ({ page }) => {
  const referrers: (string | undefined)[] = [];
  page.on('request', (request) => referrers.push(request.headers().referer));
  await page.goto('/portal/forgottenChange?hash=s3cret');
  await page.getByRole('link', { name: 'Return to sign-in' }).click();
  await expect(heading(page)).toHaveText('Sign in');
  expect(referrers.filter((referrer) => referrer?.includes('s3cret'))).toEqual([]);
});

test.describe('SE-15: a tab that stays open while somebody signs in and out in another one', () => {
  test('keeps an unused reset link', async ({ page, context, portal, inbox, newPerson }) => {
    const { email } = await newPerson();
    const link = await linkFor({ portal, inbox }, email);
    await page.goto(link);
    await expect(changeForm(page).hash).toHaveValue(hashOf(link));
    const other = await context.newPage();
    await signIn(other, 'bob', password);
    const loadedAgain = page.waitForEvent('load');
    await signOutButton(other).click();
    await loadedAgain;
    await expect(changeForm(page).hash).toHaveValue(hashOf(link));
    await changeForm(page).send(newPassword);
    await expect(heading(page)).toHaveText('Password changed');
  });

  test('discards the destination with the sign-out, and nothing with a sign-in', async ({
    page,
    context,
    newPerson,
  }) => {
    const { username } = await newPerson();
    const saved = () => page.evaluate(() => sessionStorage.getItem('loginHashFragment'));
    await page.goto('/portal/login#/reports/of-the-first');
    await expect.poll(saved).toBe('/reports/of-the-first');
    await signInForm(page).username.fill(username);
    const other = await context.newPage();
    await signIn(other, username, password);
    await expect(signInForm(page).username).toHaveValue(username);
    expect(await saved()).toBe('/reports/of-the-first');
    await signOutButton(other).click();
    await expect(heading(other)).toHaveText('Sign in');
    await expect(signInForm(page).username).toHaveValue('');
    expect(await saved()).toBeNull();
    await signInForm(page).send('bob', password);
    await expectSignedIn(page, 'bob');
    await expect(page).toHaveURL('/portal/portal.html');
  });
});
