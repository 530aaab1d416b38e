import { changeUser } from '#server/accounts/change-user.ts';
import { onDatabaseOf } from './portal-database.ts';
import { changeForm, hashOf, newPassword } from './reset-forms.ts';
import { expectSignedIn, signInForm } from './sign-in-form.ts';
import { expect, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');

test('an invitation: the command, an email, its link, a password, signed in', { tag: '@without-script' }, async ({
  page,
  portal,
  inbox,
  newPerson,
  javaScriptEnabled,
}) => {
  const { username, email } = await newPerson();
  await onDatabaseOf(portal, (sql) => changeUser(sql, username, { passwordHash: null }, new Date()));
  const invited = `User ${username} is invited by an email to ${email}; its link works once, within 72 hours.\n`;
  expect(await portal.run(['user', 'invite', email])).toEqual({ code: 0, out: invited, err: '' });
  const letter = await inbox.take(email, 'invitation');
  const hash = hashOf(letter.link);
  expect(letter.link).toBe(`${portal.origin}/portal/forgottenChange?hash=${hash}&invited=true&lang=en`);

  const heading = page.getByRole('heading', { level: 1 });
  await page.goto(letter.link);
  await expect(heading).toHaveText(texts['invitation-title']);
  await expect(page).toHaveURL(
    javaScriptEnabled ? '/portal/forgottenChange?invited=true&lang=en' : letter.link.slice(portal.origin.length),
  );
  await page.reload();
  await expect(heading).toHaveText(texts['invitation-title']);
  await expect(changeForm(page).hash).toHaveValue(hash);
  const button = page.getByRole('button', { name: texts['invitation-button'] });
  await page.getByLabel(texts['invitation-password'], { exact: true }).fill(newPassword);
  await page.getByLabel(texts['invitation-repeat'], { exact: true }).fill(newPassword);
  await button.click();
  await expect(heading).toHaveText(texts['invitation-done-title']);
  await expect(page.getByText(texts['invitation-done-text'])).toBeVisible();
  await page.getByRole('link', { name: texts['return-to-login'] }).click();
  await signInForm(page).send(username, newPassword);
  await expectSignedIn(page, username);

  await page.goto(letter.link);
  await expect(heading).toHaveText(texts['invitation-done-title']);
  for (const secret of [hash, newPassword]) expect(portal.log).not.toContain(secret);
});
