import { PortalUnderTest } from './portal-under-test.ts';
import { expectSignedIn, signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';

// The lines of the first-start instructions, as an operator types them in the repository.
const addCustomer = 'npx vestibule customer add acme --name Acme';
const addUser = 'printf %s "$PW" | npx vestibule user add ada --email ada@acme.test --customer acme --password-stdin';

for (const server of ['running', 'stopped'] as const) {
  test(`customers and users are added with the server ${server}`, async ({ anotherBrowser, watch }) => {
    test.setTimeout(120_000);
    const portal = await PortalUnderTest.prepare();
    watch.know(portal.origin);
    try {
      if (server === 'running') await portal.start();
      expect(await portal.shell(addCustomer)).toMatchObject({ code: 0, out: 'Customer acme added.\n' });
      expect(await portal.shell(addUser, { PW: password })).toMatchObject({ code: 0, out: 'User ada added.\n' });
      expect(await portal.shell(addCustomer)).toMatchObject({ code: 1, out: '' });
      expect(await portal.shell(addUser, { PW: 'short' })).toMatchObject({ code: 1, out: '' });
      if (server === 'stopped') await portal.start();
      const { page } = await anotherBrowser({ baseURL: portal.origin });
      await page.goto('/portal/login');
      await signInForm(page).send('ada', password);
      await expectSignedIn(page, 'ada');

      // Changes by the operator take effect at once, even for signed-in users.
      expect((await portal.runProcess(['user', 'set', 'ada', '--inactive'])).code).toBe(0);
      await page.goto('/portal/portal.html');
      await expect(signInForm(page).username).toBeVisible();
      await signInForm(page).send('ada', password);
      await expect(page).toHaveURL('/portal/loginfail/default');
    } finally {
      await portal.discard();
    }
  });
}
