import { signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');

test('a refused password comes back to its form, so that no manager offers to save it', async ({ page }) => {
  await page.goto('/portal/login?destination=%2Fportal%2Fportal.html%3Ftab%3D2');
  const action = await page.locator('form:has(#password)').getAttribute('action');
  await signInForm(page).send('ada', `wrong ${Math.random()}`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(texts['login-fail-default-title']);
  const form = signInForm(page);
  expect(await page.locator('form:has(#password)').getAttribute('action')).toBe(action);
  await expect(form.username).toHaveValue('ada');
  await expect(form.username).toHaveAttribute('autocomplete', 'username webauthn');
  await expect(form.password).toHaveValue('');
  await expect(form.password).toHaveAttribute('autocomplete', 'current-password');
  await form.password.fill(password);
  await form.button.click();
  await expect(page).toHaveURL('/portal/portal.html?tab=2');
});

for (const [address, button] of [
  ['/portal/forgotten', texts['forgotten-button']],
  ['/portal/singleSignOn', texts['sso-button']],
] as const) {
  const fill = (name: string) => {
    // As a manager does: the value first, then an untyped input event; Firefox states its kind.
    const field = document.querySelector<HTMLInputElement>('#email');
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(field, name);
    field?.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertReplacementText' }));
  };

  test(`${address}: an autofilled name that is not an address is reported at once`, async ({ page }) => {
    await page.goto(address);
    await expect(page.getByRole('button', { name: button })).toBeDisabled();
    await page.evaluate(fill, 'ada');
    await expect(page.getByText(texts['email-invalid'])).toBeVisible();
    await page.evaluate(fill, 'ada@acme.test');
    await expect(page.getByText(texts['email-invalid'])).toHaveCount(0);
    await expect(page.getByRole('button', { name: button })).toBeEnabled();
  });

  test(`${address}: a name filled in before the script is reported too`, async ({ page }) => {
    await page.addInitScript(() =>
      addEventListener(
        'readystatechange',
        () => Object.assign(document.querySelector('#email') ?? {}, { value: 'ada' }),
        true,
      ),
    );
    await page.goto(address);
    await expect(page.getByText(texts['email-invalid'])).toBeVisible();
  });

  test(`${address}: an address filled in without events enables the button once that is approached`, async ({
    page,
  }) => {
    await page.goto(address);
    await expect(page.getByRole('button', { name: button })).toBeDisabled();
    await page.evaluate(() => {
      const field = document.querySelector<HTMLInputElement>('#email');
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(field, 'ada@acme.test');
    });
    await page.getByRole('button', { name: button }).hover({ force: true });
    await expect(page.getByRole('button', { name: button })).toBeEnabled();
  });
}
