import { expectSignedIn, signIn, signInForm, signOutButton } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');
const asked = '/portal/login?destination=%2Fportal%2Fportal.html%3Ftab%3D7';

for (const [where, entriesSince] of [
  ['in the same tab', 4],
  ['in another tab', 1],
] as const)
  test(`SE-15 Back to a form from before another person’s turn, ${where}, leads nowhere of its own`, async ({
    page,
    context,
    newPerson,
  }) => {
    const [first, next] = [await newPerson(), await newPerson()];
    await page.goto(asked);
    await signInForm(page).username.fill(first.username);
    await page.goto('/portal/emailInfo');
    const tab = where === 'in the same tab' ? page : await context.newPage();
    await signIn(tab, next.username, password);
    await signOutButton(tab).click();
    await expect(tab.getByRole('heading', { level: 1 })).toHaveText(texts['login-title']);
    // A tab that stayed open is being loaded once more itself.
    const goBack = () => page.evaluate((count) => void setTimeout(() => history.go(-count)), entriesSince);
    await expect(goBack).toPass();
    await expect(page).toHaveURL('/portal/login');
    const form = signInForm(page);
    // It is loaded once more, for the person who is there now.
    await expect.poll(() => page.evaluate(() => history.state).catch(() => null)).not.toBeNull();
    await expect(form.username).toHaveValue('');
    await form.send(next.username, password);
    await expectSignedIn(page, next.username);
    await expect(page).not.toHaveURL(/tab=7/);
  });
