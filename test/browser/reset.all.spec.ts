import { changeForm, forgottenForm, hashOf, heading, linkFor, newPassword } from './forms.ts';
import { expect, test } from './test.ts';
import { texts } from './texts.ts';

// What a browser and a password manager make of the forms for a new password. journeys.spec.ts goes the whole way.

test('a password manager finds the account and two fields, fills them without a key, and the post has no more', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const { username, email } = await newPerson();
  const link = await linkFor({ portal, inbox }, email);
  await page.goto(link);
  const form = changeForm(page);
  await expect(form.username).toHaveValue(username);
  await expect(form.button).toBeDisabled();
  await page.evaluate((secret) => {
    for (const id of ['password', 'repeat']) {
      const input = document.getElementById(id) as HTMLInputElement;
      input.value = secret;
      for (const type of ['input', 'change']) input.dispatchEvent(new Event(type, { bubbles: true }));
    }
  }, newPassword);
  const posted = page.waitForRequest((request) => request.method() === 'POST');
  await form.button.click();
  expect([...new URLSearchParams((await posted).postData() ?? '')].sort()).toEqual([
    ['hash', hashOf(link)],
    ['password', newPassword],
    ['repeat', newPassword],
  ]);
  await expect(heading(page)).toHaveText(texts['changed-title']);
  // Back leads to no form that can be sent again.
  await page.goBack();
  await expect(page.getByRole('note')).toContainText(texts['change-no-link-title']);
});

test('one list has the rules, ticked off while typing; errors stand in it once both fields were left', async ({
  page,
}) => {
  await page.goto('/portal/forgottenChange?hash=abc');
  const form = changeForm(page);
  const lines = (state: string) => page.locator(`#rules .${state}`);
  for (const [typed, strength, lit, met] of [
    ['abc', 'Too weak', 1, 0],
    ['Ab1!', 'Too weak', 1, 1],
    ['Harbour-', 'Not yet', 2, 2],
    ['Passw0rdZZ99!!', 'Not yet', 2, 2],
    ['Harbour-7', 'Good', 3, 3],
    [newPassword, 'Strong', 4, 3],
  ] as const) {
    await form.password.fill(typed);
    await expect(page.locator('.strength'), typed).toHaveText(`Strength: ${strength}`);
    await expect(page.locator('.strength .on'), typed).toHaveCount(lit);
    await expect(page.locator('.strength.lit'), typed).toHaveCount(lit > 2 ? 1 : 0);
    await expect(lines('met'), typed).toHaveCount(met);
    await expect(form.button).toBeDisabled();
  }
  await form.password.fill('abc1');
  await form.password.press('Tab');
  await expect(form.repeat).toBeFocused();
  await form.repeat.fill('abd');
  await expect(lines('broken')).toHaveCount(0);
  await form.repeat.blur();
  await expect(lines('broken')).toHaveText([
    'Not right yet: Use at least 7 characters',
    'Not right yet: Leave out “abc”, it’s too common',
    'Not right yet: Make it longer, or mix in capitals or symbols',
    'Not right yet: The two passwords aren’t the same',
  ]);
  await expect(page.locator('.error, [role=alert]')).toHaveCount(0);
  for (const field of [form.password, form.repeat]) {
    await expect(field).toHaveAttribute('aria-invalid', 'true');
    await expect(field).toHaveAccessibleDescription(/Leave out “abc”/);
  }
  await form.fill(newPassword);
  await expect(lines('met')).toHaveCount(4);
  await expect(form.button).toBeEnabled();
});

test('an address that a manager fills in is looked at, with events and without, and a name on leaving the field', async ({
  page,
}) => {
  await page.goto('/portal/forgotten');
  const { button, email } = forgottenForm(page);
  await email.fill('ada');
  await email.blur();
  await expect(page.getByText(texts['email-invalid'])).toBeVisible();
  // Firefox states the kind of its event; others send none.
  for (const [filled, withEvent] of [
    ['ada@acme.test', true],
    ['', true],
    ['bob@acme.test', false],
  ] as const) {
    await page.evaluate(
      ([name, withEvent]) => {
        const field = document.querySelector<HTMLInputElement>('#email');
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(field, name);
        const event = new InputEvent('input', { bubbles: true, inputType: 'insertReplacementText' });
        if (withEvent) field?.dispatchEvent(event);
      },
      [filled, withEvent] as const,
    );
    // Whoever fills in without an event is noticed as the button is approached.
    await page.mouse.move(0, 0);
    await button.hover({ force: true });
    await expect(button).toBeEnabled({ enabled: filled.includes('@') });
  }
});
