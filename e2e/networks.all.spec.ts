import { ReverseProxy } from './reverse-proxy.ts';
import { expectSignedIn, signInForm } from './sign-in-form.ts';
import { expect, password, startPortalWithUsers, test } from './test.ts';

const both = { tag: '@without-script' };
const approved = '203.0.113.9';

test(
  'from a network that is not approved, a right password gets an explanation and a wrong one does not',
  both,
  async ({ page }) => {
    await page.goto('/portal/login');
    await signInForm(page).send('fen', password);
    await expect(page).toHaveURL('/portal/loginfail/ip?ipaddress=127.0.0.1');
    await expect(page.getByRole('heading')).toHaveText('This network isn’t approved');
    await expect(page.getByText('Your address 127.0.0.1')).toBeVisible();
    await page.getByRole('link', { name: 'Return to sign-in' }).click();
    await signInForm(page).send('fen', 'wrong');
    await expect(page).toHaveURL('/portal/loginfail/default');
    await page.goto('/portal/portal.html');
    await expect(page).toHaveURL('/portal/');
  },
);

test('a client address claimed by the visitor is ignored', both, async ({ anotherBrowser }) => {
  const { page } = await anotherBrowser({
    extraHTTPHeaders: { 'x-forwarded-for': approved, 'x-real-ip': approved, forwarded: `for=${approved}` },
  });
  await page.goto('/portal/login');
  await signInForm(page).send('fen', password);
  await expect(page).toHaveURL('/portal/loginfail/ip?ipaddress=127.0.0.1');
});

test('behind a trusted proxy the address that it reports counts', async ({ anotherBrowser, watch }) => {
  test.setTimeout(120_000);
  const proxy = await ReverseProxy.start();
  const portal = await startPortalWithUsers({
    config: { trustedProxies: ['127.0.0.1/32'] },
    publicUrl: proxy.origin,
  });
  try {
    proxy.target = portal.port;
    watch.know(proxy.origin);
    const visit = async (headers: Record<string, string>) => {
      const { page } = await anotherBrowser({ baseURL: proxy.origin, extraHTTPHeaders: headers });
      await page.goto('/portal/login');
      await signInForm(page).send('fen', password);
      return page;
    };

    proxy.client = approved;
    await expectSignedIn(await visit({}), 'fen');

    proxy.client = '198.51.100.7';
    await expect(await visit({})).toHaveURL(`${proxy.origin}/portal/loginfail/ip?ipaddress=198.51.100.7`);
    // What the visitor puts before the proxy's own entry is ignored.
    await expect(await visit({ 'x-forwarded-for': approved })).toHaveURL(/\/loginfail\/ip\?ipaddress=198\.51\.100\.7$/);

    proxy.client = '::ffff:203.0.113.9';
    await expectSignedIn(await visit({}), 'fen');

    // Leaving the network blocks the way into the hub, session or not.
    proxy.client = approved;
    const page = await visit({});
    await expectSignedIn(page, 'fen');
    proxy.client = '198.51.100.7';
    await page.goto('/portal/portal.html');
    await expect(page.getByText('fen@acme.test')).toHaveCount(0);
  } finally {
    await portal.discard();
    proxy.close();
  }
});
