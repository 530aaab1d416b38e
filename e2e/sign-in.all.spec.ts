import { addUserTo } from './portal-accounts.ts';
import { expectSignedIn, signIn, signInForm, signOutButton } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';

const both = { tag: '@without-script' };

for (const name of ['ada', 'ADA', 'ada@acme.test']) {
  test(`signs in as ${name} and lands on the page that says who is signed in`, both, async ({ page }) => {
    await page.goto('/portal/login');
    await signInForm(page).send(name, password);
    await expect(page).toHaveURL('/portal/portal.html');
    await expectSignedIn(page, 'ada');
    await expect(page.getByText(/^Email ada@acme\.test$/)).toBeVisible();
    await expect(page.getByText('Customers acme')).toBeVisible();
  });
}

test(
  'a wrong password leads to a page with a reference, and back to a form that kept the name',
  both,
  async ({ page, portal }) => {
    await page.goto('/portal/login');
    await signInForm(page).send('ada', 'not the right one');
    await expect(page).toHaveURL('/portal/loginfail/default');
    await expect(page.getByRole('heading', { name: 'Sign‑in didn’t work' })).toBeVisible();
    const reference = (await page.getByText(/^[A-Z0-9]{4}-[A-Z0-9]{4}$/).textContent()) as string;
    const explained = await portal.run(['explain', reference]);
    expect(explained.out).toContain('ada');
    expect(explained.out).toMatch(/password\W+wrong/);

    await page.getByRole('link', { name: 'Return to sign-in' }).click();
    const form = signInForm(page);
    await expect(form.username).toHaveValue('ada');
    await expect(form.password).toHaveValue('');
    await form.password.fill(password);
    await form.button.click();
    await expectSignedIn(page, 'ada');
  },
);

test('an unknown name is answered like a wrong password', both, async ({ page }) => {
  await page.goto('/portal/login');
  await signInForm(page).send('nobody-here', password);
  await expect(page).toHaveURL('/portal/loginfail/default');
  await expect(page.getByText('Check your username and password and try again.')).toBeVisible();
});

test('the session outlives a reload and opens in a second tab', both, async ({ page, context }) => {
  await signIn(page, 'ada', password);
  await page.reload();
  await expectSignedIn(page, 'ada');
  const tab = await context.newPage();
  await tab.goto('/portal/portal.html');
  await expectSignedIn(tab, 'ada');
});

test('a signed-in visitor is redirected from every address of the form', both, async ({ page }) => {
  await signIn(page, 'ada', password);
  for (const address of ['/', '/portal', '/portal/', '/portal/login']) {
    await page.goto(address);
    await expect(page).toHaveURL('/portal/portal.html');
  }
});

test('Back after sign-in leads to a working page', both, async ({ page }) => {
  await signIn(page, 'ada', password);
  await page.goBack();
  await expectSignedIn(page, 'ada');
});

test('signing out ends the session, and Back shows nothing of it (SE-14)', both, async ({ page, context }) => {
  await signIn(page, 'ada', password);
  await signOutButton(page).click();
  await expect(page).toHaveURL('/portal/login');
  await expect(signInForm(page).button).toBeVisible();
  await page.goBack();
  await expect(signInForm(page).username).toBeVisible();
  await expect(page.getByText('ada@acme.test')).toHaveCount(0);
  // In another tab: after Back, this one loads its page again by itself.
  const tab = await context.newPage();
  await tab.goto('/portal/portal.html');
  await expect(tab).toHaveURL('/portal/');
});

test('signing out in one tab signs out the other', both, async ({ page, context, javaScriptEnabled }) => {
  await signIn(page, 'ada', password);
  const tab = await context.newPage();
  await tab.goto('/portal/portal.html');
  await signOutButton(tab).click();
  await expect(tab).toHaveURL('/portal/login');
  // With JavaScript the other tab notices by itself.
  if (!javaScriptEnabled) await signOutButton(page).click();
  await expect(signInForm(page).button).toBeVisible();
  await expect(page.getByText('ada@acme.test')).toHaveCount(0);
});

test('Enter sends the form from either field', both, async ({ page }) => {
  await page.goto('/portal/login');
  const form = signInForm(page);
  await form.fill('ada', password);
  await form.username.press('Enter');
  await expectSignedIn(page, 'ada');
  await signOutButton(page).click();
  await form.fill('ada', password);
  await form.password.press('Enter');
  await expectSignedIn(page, 'ada');
});

test('two quick presses sign in once', both, async ({ page }) => {
  const posts: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()));
  await page.goto('/portal/login');
  const form = signInForm(page);
  await form.fill('ada', password);
  await form.button.dblclick();
  await expectSignedIn(page, 'ada');
  await page.reload();
  await expectSignedIn(page, 'ada');
});

test('two quick presses with a wrong password count one failure', both, async ({ page, portal }) => {
  await addUserTo(portal, 'dora', password, { customers: ['acme'] });
  for (let round = 0; round < 7; round += 1) {
    await page.goto('/portal/login');
    const form = signInForm(page);
    await form.fill('dora', 'the same wrong one');
    await form.button.dblclick();
    await expect(page).toHaveURL('/portal/loginfail/default');
  }
  await signIn(page, 'dora', password);
});

test('the button is disabled until both fields are filled', async ({ page }) => {
  await page.goto('/portal/login');
  const form = signInForm(page);
  await expect(form.button).toBeDisabled();
  await form.username.fill('ada');
  await expect(form.button).toBeDisabled();
  await form.password.fill('x');
  await expect(form.button).toBeEnabled();
  await form.username.fill('');
  await expect(form.button).toBeDisabled();
});

test('without JavaScript the button is enabled and the browser asks for missing values', {
  tag: '@without-script-only',
}, async ({ page }) => {
  await page.goto('/portal/login');
  const form = signInForm(page);
  await expect(form.button).toBeEnabled();
  await form.username.fill('ada');
  await form.button.click();
  await expect(form.password).toBeFocused();
  await expect(page).toHaveURL('/portal/login');
});

test('autofill without a key press enables the button', async ({ page }) => {
  await page.goto('/portal/login');
  const form = signInForm(page);
  await expect(form.button).toBeDisabled();
  await page.evaluate((secret) => {
    for (const [id, value] of [
      ['username', 'ada'],
      ['password', secret],
    ] as const) {
      const input = document.getElementById(id) as HTMLInputElement;
      input.value = value;
      for (const type of ['input', 'change']) input.dispatchEvent(new Event(type, { bubbles: true }));
    }
  }, password);
  await form.button.click();
  await expectSignedIn(page, 'ada');
});

test('fields are labelled for password managers', both, async ({ page }) => {
  await page.goto('/portal/login');
  const form = signInForm(page);
  await expect(form.username).toHaveAttribute('autocomplete', 'username webauthn');
  await expect(form.username).toHaveAttribute('name', 'username');
  await expect(form.password).toHaveAttribute('autocomplete', 'current-password');
  await expect(form.password).toHaveAttribute('name', 'password');
  await expect(form.password).toHaveAttribute('type', 'password');
});

test('the password can be revealed and hidden again', async ({ page }) => {
  await page.goto('/portal/login');
  const form = signInForm(page);
  await form.password.fill('visible');
  const reveal = page.getByRole('button', { name: 'Show password' });
  await reveal.click();
  await expect(form.password).toHaveAttribute('type', 'text');
  await expect(reveal).toHaveAttribute('aria-pressed', 'true');
  await reveal.click();
  await expect(form.password).toHaveAttribute('type', 'password');
  await expect(form.password).toHaveValue('visible');
});
