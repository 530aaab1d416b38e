import { HubUnderTest } from './hub-under-test.ts';
import { signInForm } from './sign-in-form.ts';
import { test as base, expect, password, startPortalWithUsers } from './test.ts';

/** A portal with a gate before a hub; `stopHub` ends the hub for good. */
const test = base.extend<{ site: { origin: string; stopHub: () => void } }>({
  site: async ({ oncePerWorker }, use) => await use(await oncePerWorker.get(startSite, undefined)),
});

async function startSite() {
  const hub = await HubUnderTest.start();
  const portal = await startPortalWithUsers({ config: { hub: { url: hub.url, paths: ['/app'] } } });
  return {
    origin: portal.origin,
    stopHub: () => hub.close(),
    async close() {
      await portal.discard();
      hub.close();
    },
  };
}

test('GT-09 GT-13 a deep link leads through sign-in to the page asked for, with its streams, until sign-out', {
  tag: '@without-script',
}, async ({ anotherBrowser, site, watch, javaScriptEnabled }) => {
  test.setTimeout(120_000);
  watch.know(site.origin);
  watch.know(site.origin.replace('http:', 'ws:'));
  // Once signed out, the streams of the page are closed, and cannot be opened again.
  watch.expect(/WebSocket|EventSource|events|INCOMPLETE_CHUNKED|404|502/);
  const { page } = await anotherBrowser({ baseURL: site.origin });
  const asked = '/app/reports?year=2026&q=a%2Fb';
  await page.goto(`${asked}#part-2`);
  await expect(page).toHaveURL(/\/portal\//);
  await signInForm(page).send('ada', 'wrong');
  await expect(page).toHaveURL(/\/loginfail\/default/);
  await signInForm(page).send('ada', password);
  // Without JavaScript no server knows the fragment.
  await expect(page).toHaveURL(asked + (javaScriptEnabled ? '#part-2' : ''));
  await expect(page.getByRole('heading')).toHaveText(`${asked} for ada`);
  if (javaScriptEnabled) {
    await expect(page.locator('#socket')).toHaveText('socket for ada');
    await expect(page.locator('#events')).toHaveText('events for ada');
  }
  await page.getByRole('button', { name: 'Post' }).click();
  await expect(page.getByRole('heading')).toHaveText('posted by ada');
  await page.goto('/portal/');
  await expect(page).toHaveURL('/portal/portal.html');
  await expect(page.getByRole('heading')).toHaveText('/portal/portal.html for ada');

  const other = await page.context().newPage();
  await other.goto('/portal/portal.html');
  await other.getByRole('button', { name: 'Sign out' }).click();
  await expect(signInForm(other).username).toBeVisible();
  // GT-12: the streams of the first tab end with the session.
  if (javaScriptEnabled) await expect(page.locator('#socket')).toHaveText('socket closed', { timeout: 20_000 });
  await page.reload();
  await expect(signInForm(page).username).toBeVisible();
});

test('GT-11 a hub that is down has a page that says so, and a reload asks it again', {
  tag: '@without-script',
}, async ({ anotherBrowser, watch, site }) => {
  test.setTimeout(120_000);
  watch.know(site.origin);
  // The streams of the page break off with the hub.
  watch.expect(/502|INCOMPLETE_CHUNKED|WebSocket/);
  const { page } = await anotherBrowser({ baseURL: site.origin });
  await page.goto('/portal/login');
  await signInForm(page).send('ada', password);
  await expect(page).toHaveURL('/portal/portal.html');
  site.stopHub();
  await page.goto('/app/x?y=1#z');
  await expect(page.getByRole('heading')).toHaveText('The application isn’t answering');
  await expect(page).toHaveURL('/app/x?y=1#z');
  await page.reload();
  await expect(page.getByRole('heading')).toHaveText('The application isn’t answering');
});
