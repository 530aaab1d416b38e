import type { Page } from '@playwright/test';
import type { ChangeFailedReason } from '#contract/reasons.ts';
import { onDatabaseOf } from './portal-database.ts';
import type { PortalUnderTest } from './portal-under-test.ts';
import { changeForm, hashOf, linkFor, newPassword } from './reset-forms.ts';
import { expectSignedIn, signInForm } from './sign-in-form.ts';
import { expect, type Person, password, test } from './test.ts';
import { textsOf } from './texts.ts';

const texts = textsOf('en');
const heading = (page: Page) => page.getByRole('heading', { level: 1 });
const reference = (page: Page) => page.getByText(/^[A-Z0-9]{4}-[A-Z0-9]{4}$/);

const withScriptToo = '@without-script';
/** For what the form itself prevents with JavaScript. */
const withoutScriptOnly = '@without-script-only';

/** The links of a page that explains why, the solid one first. */
const steps = {
  choose: { name: texts['change-failed-choose'], href: /^\/portal\/forgottenChange\b/ },
  newLink: { name: texts['change-failed-new-link'], href: /^\/portal\/forgotten\b/ },
  support: { name: texts['contact-support'], href: /^https?:|^mailto:/ },
} as const;

type Case = {
  reason: ChangeFailedReason;
  what: string;
  tag: typeof withScriptToo | typeof withoutScriptOnly;
  /** The solid button of the page. */
  next: keyof typeof steps;
  /** What happens between the email and the change. */
  meanwhile?: (portal: PortalUnderTest, person: Person) => Promise<unknown>;
  /** What is typed; by default a good password. */
  first?: (person: Person) => string;
  second?: string;
  /** After these reasons the link is no longer valid. */
  isLinkOver?: true;
};

const cases: Case[] = [
  {
    reason: 2,
    what: 'the account is gone',
    tag: withScriptToo,
    next: 'newLink',
    meanwhile: (portal, { username }) => portal.mustRun(['user', 'remove', username]),
    isLinkOver: true,
  },
  {
    reason: 3,
    what: 'the hour is over',
    tag: withScriptToo,
    next: 'newLink',
    meanwhile: (portal, { username }) =>
      onDatabaseOf(
        portal,
        (sql) => sql`
          update reset_link set ends_at = now() - interval '1 second'
          where user_id = (select id from portal_user where username = ${username})`,
      ),
    isLinkOver: true,
  },
  {
    reason: 3,
    what: 'the password was changed by the operator',
    tag: withScriptToo,
    next: 'newLink',
    meanwhile: (portal, { username }) =>
      portal.mustRun(['user', 'set', username, '--password-stdin'], 'Quiet-Meadow-31'),
    isLinkOver: true,
  },
  { reason: 5, what: 'the entries differ', tag: withoutScriptOnly, next: 'choose', second: 'Harbour-Lantern-78' },
  { reason: 6, what: 'a tab in the password', tag: withScriptToo, next: 'choose', first: () => `Harbour\tLantern-77` },
  {
    reason: 7,
    what: 'the account is inactive',
    tag: withScriptToo,
    next: 'support',
    meanwhile: (portal, { username }) => portal.mustRun(['user', 'set', username, '--inactive']),
  },
  {
    reason: 8,
    what: 'the account may not change its password',
    tag: withScriptToo,
    next: 'support',
    meanwhile: (portal, { username }) => portal.mustRun(['user', 'set', username, '--no-password-change']),
  },
  { reason: 9, what: 'too short', tag: withoutScriptOnly, next: 'choose', first: () => 'Ab1!-x' },
  { reason: 9, what: 'too long', tag: withoutScriptOnly, next: 'choose', first: () => 'Ab1!-x'.repeat(13) },
  { reason: 9, what: 'a popular entry', tag: withoutScriptOnly, next: 'choose', first: () => 'Harbour-passw0rd-77' },
  { reason: 9, what: 'a common password', tag: withScriptToo, next: 'choose', first: () => 'Q1w2e3r4t5y6' },
  { reason: 9, what: 'the own name', tag: withScriptToo, next: 'choose', first: () => 'Grace-Hopper-1906!' },
  {
    reason: 10,
    what: 'no customer is assigned',
    tag: withScriptToo,
    next: 'support',
    meanwhile: (portal, { username }) => portal.mustRun(['user', 'set', username, '--remove-customer', 'acme']),
  },
  { reason: 11, what: 'the password of today', tag: withScriptToo, next: 'choose', first: () => password },
];

for (const { reason, what, tag, next, meanwhile, first = () => newPassword, second, isLinkOver } of cases) {
  test(`reason ${reason}, ${what}: says why, what helps, and leads back`, { tag }, async ({
    page,
    portal,
    inbox,
    newPerson,
    javaScriptEnabled,
  }) => {
    const person = await newPerson();
    const link = await linkFor({ portal, inbox }, person.email);
    await page.goto(link);
    await meanwhile?.(portal, person);
    const entry = first(person);
    await changeForm(page).send(entry, second ?? entry);

    await expect(page).toHaveURL(`/portal/forgottenChangeFailedInfo?reason=${reason}&lang=en`);
    await expect(heading(page)).toHaveText('Password not changed');
    await expect(page.getByText(texts[`changed-failed-page-error-${reason}`], { exact: true })).toBeVisible();
    const main = page.getByRole('main');
    const solid = main.locator('a.button');
    await expect(solid).toHaveText(steps[next].name);
    await expect(solid).toHaveAttribute('href', steps[next].href);
    for (const { name, href } of [steps.choose, steps.support])
      await expect(main.getByRole('link', { name })).toHaveAttribute('href', href);
    await expect(main.getByRole('link', { name: 'Return to sign-in' })).toHaveAttribute('href', /^\/portal\/login\b/);

    await expect(reference(page)).toBeVisible();

    await main.getByRole('link', { name: steps.choose.name }).click();
    await expect(heading(page)).toHaveText('Choose a new password');
    const form = changeForm(page);
    await expect(form.hash).toHaveValue(isLinkOver ? '' : hashOf(link));
    // Playwright finds no text within noscript, only roles.
    await expect(page.getByRole('note')).toHaveText(
      isLinkOver ? [`${texts['change-no-link-title']}. ${texts['change-no-link-text']} Send a new link`] : [],
    );
    if (next !== 'choose') return;
    await expect(form.username).toHaveValue(person.username);
    await form.send(newPassword);
    await expect(heading(page)).toHaveText('Password changed');
    // The reference and the waiting link are no longer needed.
    expect((await page.context().cookies()).filter(({ value }) => value !== '')).toEqual([]);
    if (javaScriptEnabled)
      expect(await page.evaluate(() => sessionStorage.getItem('passwordHashParameter'))).toBeNull();
  });
}

test('reason 1, too weak: says so on the form, which accepts a stronger one', { tag: withoutScriptOnly }, async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const { username, email } = await newPerson();
  const link = await linkFor({ portal, inbox }, email);
  await page.goto(link);
  await changeForm(page).send('lanternq');
  await expect(page).toHaveURL('/portal/forgottenChange?reason=1&lang=en');
  await expect(heading(page)).toHaveText('Choose a new password');
  await expect(page.getByText(texts['password-page-error-1'])).toBeVisible();
  const form = changeForm(page);
  await expect(form.hash).toHaveValue(hashOf(link));
  await expect(form.username).toHaveValue(username);
  await expect(form.password).toHaveValue('');
  await form.send(newPassword);
  await expect(heading(page)).toHaveText('Password changed');
});

test('with JavaScript the form holds back entries that the server would refuse', async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const { email } = await newPerson();
  await page.goto(await linkFor({ portal, inbox }, email));
  const form = changeForm(page);
  for (const [first, second, rule] of [
    ['lanternq', 'lanternq', 'weak'],
    ['Ab1!-x', 'Ab1!-x', 'short'],
    ['Ab1!-x'.repeat(13), 'Ab1!-x'.repeat(13), 'long'],
    ['Harbour-passw0rd-77', 'Harbour-passw0rd-77', 'common'],
    [newPassword, 'Harbour-Lantern-78', 'match'],
  ] as const) {
    await form.fill(first, second);
    await form.repeat.blur();
    const said = texts[`password-validation-${rule}`].replace('{shortest}', '7').replace('{longest}', '72');
    await expect(page.getByText(said, { exact: true })).toBeVisible();
    await expect(form.button).toBeDisabled();
    await form.repeat.press('Enter');
  }
  await expect(page).toHaveURL('/portal/forgottenChange?lang=en');
  await form.send(newPassword);
  await expect(heading(page)).toHaveText('Password changed');
});

test('?reason=1 and ?reason=2 are said on the form until all checks pass', async ({ page }) => {
  for (const reason of [1, 2] as const) {
    await page.goto(`/portal/forgottenChange?reason=${reason}`);
    const said = page.getByText(texts[`password-page-error-${reason}`]);
    await expect(said).toBeVisible();
    await changeForm(page).fill(newPassword, 'Harbour');
    await expect(said).toBeVisible();
    await changeForm(page).repeat.fill(newPassword);
    await expect(said).toHaveCount(0);
  }
});

test('reason 3, the link was used in another tab: says so, and the password of that tab counts', {
  tag: withScriptToo,
}, async ({ page, context, portal, inbox, newPerson }) => {
  const { username, email } = await newPerson();
  const link = await linkFor({ portal, inbox }, email);
  await page.goto(link);
  const tab = await context.newPage();
  await tab.goto(link);
  await changeForm(tab).send(newPassword);
  await expect(heading(tab)).toHaveText('Password changed');
  await changeForm(page).send('Quiet-Meadow-31');
  await expect(page).toHaveURL('/portal/forgottenChangeFailedInfo?reason=3&lang=en');
  await expect(page.getByText(texts['changed-failed-page-error-3'])).toBeVisible();
  await page.getByRole('link', { name: 'Return to sign-in' }).click();
  await signInForm(page).send(username, newPassword);
  await expectSignedIn(page, username);
});

test('reason 4, a link truncated by an email program: says so, and offers a new one', { tag: withScriptToo }, async ({
  page,
  portal,
  inbox,
  newPerson,
}) => {
  const { email } = await newPerson();
  const link = await linkFor({ portal, inbox }, email);
  await page.goto(link.slice(0, link.indexOf('&') - 5));
  await expect(heading(page)).toHaveText('Choose a new password');
  await expect(changeForm(page).username).toHaveValue('');
  await changeForm(page).send(newPassword);
  await expect(page).toHaveURL('/portal/forgottenChangeFailedInfo?reason=4');
  await expect(page.getByText(texts['changed-failed-page-error-4'])).toBeVisible();
  await expect(reference(page)).toBeVisible();
  await page.getByRole('link', { name: 'Send a new link' }).click();
  await expect(heading(page)).toHaveText('Reset your password');
  // The whole link still works.
  await page.goto(link);
  await changeForm(page).send(newPassword);
  await expect(heading(page)).toHaveText('Password changed');
});

test('from a network that is not approved: says so with the address, and keeps the link', {
  tag: withScriptToo,
}, async ({ page, portal, inbox, newPerson }) => {
  const { username, email } = await newPerson({ customers: ['fenced'] });
  await page.goto(await linkFor({ portal, inbox }, email));
  await changeForm(page).send(newPassword);
  await expect(page).toHaveURL('/portal/loginfail/ip?ipaddress=127.0.0.1&lang=en');
  await expect(heading(page)).toHaveText('This network isn’t approved');
  await expect(page.getByText('Your address 127.0.0.1')).toBeVisible();
  await expect(reference(page)).toBeVisible();
  await portal.mustRun(['user', 'set', username, '--add-customer', 'acme']);
  await page.goBack();
  await changeForm(page).send(newPassword);
  await expect(heading(page)).toHaveText('Password changed');
});

test('an operator finds the refusal by its reference, fixes it, and the same link works', {
  tag: withScriptToo,
}, async ({ page, portal, inbox, newPerson }) => {
  const { username, email } = await newPerson();
  const link = await linkFor({ portal, inbox }, email);
  await page.goto(link);
  await portal.mustRun(['user', 'set', username, '--inactive']);
  await changeForm(page).send(newPassword);
  await expect(page.getByText('Your account is inactive.')).toBeVisible();

  const explained = await portal.mustRun(['explain', (await reference(page).textContent()) as string]);
  expect(explained).toMatch(/Event\s+password-change-refused/);
  expect(explained).toMatch(/Reason\s+7/);
  expect(explained).toMatch(/Address\s+127\.0\.0\.1/);
  expect(explained).toMatch(/1\. link\s+open/);
  expect(explained).toMatch(new RegExp(`2\\. account\\s+found: ${username}`));
  expect(explained).toMatch(/3\. active\s+no/);
  for (const secret of [hashOf(link), newPassword]) expect(explained).not.toContain(secret);
  await portal.mustRun(['user', 'set', username, '--active']);

  await page.getByRole('link', { name: 'Choose another password' }).click();
  await changeForm(page).send(newPassword);
  await expect(heading(page)).toHaveText('Password changed');
});

test('each reason of a failed change has its own sentence, by name or right after the question mark', {
  tag: withScriptToo,
}, async ({ page }) => {
  for (const reason of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] as const) {
    for (const query of [`reason=${reason}`, `${reason}`]) {
      await page.goto(`/portal/forgottenChangeFailedInfo?${query}`);
      await expect(page.getByText(texts[`changed-failed-page-error-${reason}`], { exact: true })).toBeVisible();
      await expect(page.locator('a[href^="/portal/forgottenChange"]')).toBeVisible();
    }
  }
});

for (const query of ['', '?reason=12', '?reason=0', '?reason=', '?reason=x', '?99', '?reason=<b>3</b>']) {
  test(`a failed change without a known reason falls back: ${query || 'nothing'}`, { tag: withScriptToo }, async ({
    page,
  }) => {
    await page.goto(`/portal/forgottenChangeFailedInfo${query}`);
    await expect(heading(page)).toHaveText('Password not changed');
    await expect(page.getByText('Login failed. Please try again.', { exact: true })).toBeVisible();
    await expect(page.locator('a.button')).toHaveText('Choose another password');
    await expect(page.locator('a.button')).toHaveAttribute('href', '/portal/forgottenChange');
  });
}
