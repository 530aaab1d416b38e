import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { expectSignedIn, heading, signIn, signInForm, signOutButton } from './forms.ts';
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

test('IN-02 IN-04: a name or an unknown address is always treated as text', async ({ page, watch }) => {
  watch.expect(/status of 404/);
  const lure = '"><img src=x onerror="document.title=`taken`">';
  const isHarmless = async (title: string) => {
    await expect(page).toHaveTitle(title);
    await expect(page.getByRole('main').locator('img, script, [onload]')).toHaveCount(0);
  };
  await page.goto(`/portal/login?${new URLSearchParams({ login: lure })}`);
  await expect(signInForm(page).username).toHaveValue(lure);
  await isHarmless('Sign in · Vestibule');
  await signInForm(page).send(lure, 'wrong');
  await isHarmless('Sign‑in didn’t work · Vestibule');
  await expect(signInForm(page).username).toHaveValue(lure);
  for (const path of ['<svg onload=document.title="taken">', `a?b=</script><script>document.title='taken'</script>`]) {
    await page.goto(`/portal/${path}`);
    await isHarmless('Page not found · Vestibule');
  }
});

test('a reset link in the fragment of a page that is somebody’s leaves the address', async ({ page }) => {
  await signIn(page, 'ada', password);
  await page.goto(`/portal/portal.html#/forgottenChange?hash=${'A'.repeat(43)}`);
  await page.reload();
  await expect(page).toHaveURL('/portal/portal.html#/forgottenChange');
});
