import type { BrowserContext, Page } from '@playwright/test';
import { onDatabaseOf } from './portal-database.ts';
import { changeForm, forgottenForm, hashOf, linkFor, newPassword } from './reset-forms.ts';
import { expectSignedIn, signIn, signInForm } from './sign-in-form.ts';
import { expect, password, test } from './test.ts';
import { textsOf } from './texts.ts';

const both = { tag: '@without-script' };
const texts = textsOf('en');
const heading = (page: Page) => page.getByRole('heading', { level: 1 });

/** Where a text appears in a browser's requests: in addresses and in Referer. Call it after all requests. */
function sightings(context: BrowserContext, text: string): () => Promise<string[]> {
  const seen: Promise<string[]>[] = [];
  context.on('request', (request) => {
    const inHeaders = request.allHeaders().then(({ referer = '' }) => (referer.includes(text) ? ['Referer'] : []));
    seen.push(request.url().includes(text) ? inHeaders.then((more) => ['address', ...more]) : inHeaders);
  });
  return async () => (await Promise.all(seen)).flat();
}

test('a name that came in the address is not carried to the page that asks for none', async ({ page }) => {
  await page.goto('/portal/forgotten?login=ada%40acme.test');
  await forgottenForm(page).button.click();
  await expect(page).toHaveURL('/portal/emailInfo');
});

test(
  'a forgotten password: an email, its link in another browser, a new password, and nothing of the old one left',
  both,
  async ({ page, portal, inbox, newPerson, anotherBrowser, javaScriptEnabled }) => {
    const { username, email } = await newPerson();
    await signIn(page, username, password);
    await page.goto('/portal/forgotten');
    await forgottenForm(page).send(email);
    await expect(page).toHaveURL('/portal/emailInfo');
    await expect(heading(page)).toHaveText('Check your inbox');
    await expect(page.getByText(texts['email-info-text'])).toBeVisible();

    const letter = await inbox.take(email, 'resetLink');
    expect(letter.link).toMatch(new RegExp(`^${portal.origin}/portal/forgottenChange\\?hash=[\\w-]{43}&lang=en$`));
    expect(letter.text).toContain(username);
    expect(letter.text + letter.html).not.toContain(password);
    const hash = hashOf(letter.link);

    const { page: other, context } = await anotherBrowser();
    const whereSeen = sightings(context, hash);
    await other.setContent(letter.html);
    await other.getByRole('link', { name: texts['mail-resetLink-button'] }).click();
    await expect(heading(other)).toHaveText('Choose a new password');
    await expect(other).toHaveURL(
      javaScriptEnabled ? '/portal/forgottenChange?lang=en' : `/portal/forgottenChange?hash=${hash}&lang=en`,
    );
    const form = changeForm(other);
    await expect(form.hash).toHaveValue(hash);
    await expect(form.username).toHaveValue(username);
    await form.send(newPassword);
    await expect(other).toHaveURL('/portal/forgottenChangedInfo?lang=en');
    await expect(heading(other)).toHaveText('Password changed');
    // It reports success, and signs nobody in.
    expect((await context.cookies()).filter(({ value }) => value !== '')).toEqual([]);
    if (javaScriptEnabled)
      expect(await other.evaluate(() => sessionStorage.getItem('passwordHashParameter'))).toBeNull();
    await other.getByRole('link', { name: 'Return to sign-in' }).click();
    await signInForm(other).send(username, newPassword);
    await expectSignedIn(other, username);
    // The one request for the link itself.
    expect(await whereSeen()).toEqual(['address']);

    const notice = await inbox.take(email, 'passwordChanged');
    expect(notice.link).toBe(`${portal.origin}/portal/forgotten?lang=en`);
    for (const secret of [hash, newPassword]) expect(notice.text + notice.html + portal.log).not.toContain(secret);

    await page.goto('/portal/portal.html');
    await expect(page).toHaveURL('/portal/');
    await signInForm(page).send(username, password);
    await expect(page).toHaveURL('/portal/loginfail/default');
    await page.getByRole('link', { name: 'Return to sign-in' }).click();
    await signInForm(page).send(username, newPassword);
    await expectSignedIn(page, username);
  },
);

for (const where of ['another browser', 'another tab'])
  test(
    `the page that was asked for first is reached by the link in ${where}`,
    both,
    async ({ page, inbox, newPerson, anotherBrowser, javaScriptEnabled }) => {
      // The fragment never reaches a server, so without JavaScript it is not known.
      const asked = `/portal/portal.html?tab=2&filter=a%26b${javaScriptEnabled ? '#/reports/7' : ''}`;
      const { username, email } = await newPerson();
      await page.goto(asked);
      await page.getByRole('link', { name: 'Forgot password?' }).click();
      await forgottenForm(page).send(email);
      await expect(heading(page)).toHaveText('Check your inbox');
      const { link, text } = await inbox.take(email, 'resetLink');
      expect(text).toContain(link);

      const other = where === 'another tab' ? await page.context().newPage() : (await anotherBrowser()).page;
      await other.goto(link);
      // Refused: it was used before.
      await changeForm(other).send(password);
      await expect(heading(other)).toHaveText('Password not changed');
      await other.getByRole('link', { name: texts['change-failed-choose'] }).click();
      await changeForm(other).send(newPassword);
      await expect(heading(other)).toHaveText('Password changed');
      await expect(other.getByText(texts['changed-onwards'])).toBeVisible();
      await other.getByRole('link', { name: 'Return to sign-in' }).click();
      await signInForm(other).send(username, `wrong ${newPassword}`);
      await expect(other).toHaveURL(/\/loginfail\/default/);
      await signInForm(other).send(username, newPassword);
      await expect(other).toHaveURL(asked);
      await expectSignedIn(other, username);
    },
  );

test('in German: the page, the email and the page of its link', both, async ({ newPerson, inbox, anotherBrowser }) => {
  const german = textsOf('de');
  const { email } = await newPerson();
  const { page } = await anotherBrowser({ locale: 'de-AT' });
  await page.goto('/portal/login');
  await page.getByRole('link', { name: german['login-forgotten'] }).click();
  await expect(heading(page)).toHaveText('Passwort zurücksetzen');
  await forgottenForm(page, 'de').send(email);
  await expect(heading(page)).toHaveText('Prüfen Sie Ihr Postfach');

  const { text, html, link } = await inbox.take(email, 'resetLink', 'de');
  expect(text).toContain(german['mail-resetLink-text'].replace('{hub}', 'Vestibule'));
  expect(text).toContain('1\u00a0Stunde');
  expect(html).toMatch(/<html lang="de"/);
  // Read on a machine set to English.
  const { page: other } = await anotherBrowser({ locale: 'en-GB' });
  await other.goto(link);
  await expect(other.locator('html')).toHaveAttribute('lang', 'de');
  await expect(heading(other)).toHaveText('Neues Passwort festlegen');
  await changeForm(other, 'de').send(newPassword);
  await expect(heading(other)).toHaveText('Passwort geändert');
  await inbox.take(email, 'passwordChanged', 'de');
  await other.getByRole('link', { name: german['return-to-login'] }).click();
  await expect(heading(other)).toHaveText('Anmelden');
});

test(
  "in Polish for a user whose language is Polish, whatever the browser's",
  both,
  async ({ page, newPerson, inbox, anotherBrowser }) => {
    const polish = textsOf('pl');
    const { email } = await newPerson({ language: 'pl' });
    await page.goto('/portal/forgotten');
    await forgottenForm(page).send(email);
    await expect(heading(page)).toHaveText('Check your inbox');
    const { text, html, link } = await inbox.take(email, 'resetLink', 'pl');
    expect(text).toContain(polish['mail-resetLink-text'].replace('{hub}', 'Vestibule'));
    expect(html).toMatch(/<html lang="pl"/);
    const { page: other } = await anotherBrowser();
    await other.goto(link);
    await expect(heading(other)).toHaveText('Ustaw nowe hasło');
    await changeForm(other, 'pl').send(newPassword);
    await expect(other.locator('html')).toHaveAttribute('lang', 'pl');
    await expect(heading(other)).toHaveText('Hasło zmienione');
    await inbox.take(email, 'passwordChanged', 'pl');
  },
);

test('a form that is shown again, at the address that it was sent to, is there after a reload and when that is opened', {
  tag: '@without-script-only',
}, async ({ page, watch }) => {
  watch.expect(/status of 400/);
  await page.goto('/portal/forgotten?lang=en');
  await forgottenForm(page).send('not an address');
  await expect(page).toHaveURL('/portal/password/forgotten?lang=en');
  await expect(forgottenForm(page).email).toHaveValue('not an address');
  await page.reload();
  await expect(forgottenForm(page).email).toHaveValue('not an address');
  await page.goto(page.url());
  await expect(page).toHaveURL('/portal/forgotten?lang=en');
  await expect(forgottenForm(page).button).toBeEnabled();
  await page.goBack();
  await expect(forgottenForm(page).button).toBeEnabled();
});

test(
  'Back after a request sends no second email',
  both,
  async ({ page, portal, inbox, newPerson, javaScriptEnabled }) => {
    const { username, email } = await newPerson();
    const posts: string[] = [];
    // The sign-in page asks for passkey options by itself.
    page.on(
      'request',
      (request) => request.method() === 'POST' && !request.url().endsWith('/options') && posts.push(request.url()),
    );
    await page.goto('/portal/login');
    await page.getByRole('link', { name: 'Forgot password?' }).click();
    await forgottenForm(page).send(email);
    await expect(heading(page)).toHaveText('Check your inbox');
    await page.goBack();
    // With JavaScript the form's history entry was replaced; without, the form is there, and was not sent again.
    await expect(page).toHaveURL(javaScriptEnabled ? '/portal/login' : '/portal/forgotten');
    await expect(
      page.getByRole('button', { name: javaScriptEnabled ? 'Sign in' : 'Send link', exact: true }),
    ).toBeEnabled({
      enabled: !javaScriptEnabled,
    });
    await page.goForward();
    await expect(heading(page)).toHaveText('Check your inbox');
    await page.reload();
    await expect(heading(page)).toHaveText('Check your inbox');
    await inbox.take(email, 'resetLink');
    expect(posts).toEqual([`${portal.origin}/portal/password/forgotten`]);
    expect(await portal.eventsOf(username, 'password-forgotten')).toHaveLength(1);
  },
);

test('two quick presses send one email', both, async ({ page, portal, inbox, newPerson }) => {
  const { username, email } = await newPerson();
  const posts: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()));
  await page.goto('/portal/forgotten');
  const form = forgottenForm(page);
  await form.email.fill(email);
  await form.button.dblclick();
  await expect(heading(page)).toHaveText('Check your inbox');
  await inbox.take(email, 'resetLink');
  const outcomes = async () => (await portal.eventsOf(username, 'password-forgotten')).map(({ reason }) => reason);
  await expect.poll(outcomes).toHaveLength(posts.length);
  expect((await outcomes()).filter((outcome) => outcome !== 'on-its-way')).toEqual(['link-mailed']);
  expect(inbox.count(email, 'resetLink')).toBe(1);
});

test('it can be sent again, and either link works', both, async ({ page, inbox, newPerson }) => {
  const { email } = await newPerson();
  await page.goto('/portal/forgotten');
  await forgottenForm(page).send(email);
  await expect(heading(page)).toHaveText('Check your inbox');
  const first = await inbox.take(email, 'resetLink');
  // Within half a second it would count as the same press.
  await expect
    .poll(async () => {
      await page.goto('/portal/emailInfo');
      await page.getByRole('link', { name: 'Send it again or use another address' }).click();
      await forgottenForm(page).send(email);
      await expect(heading(page)).toHaveText('Check your inbox');
      return inbox.count(email, 'resetLink');
    })
    .toBeGreaterThan(1);
  const second = await inbox.take(email, 'resetLink');
  expect(second.link).not.toBe(first.link);
  await page.goto(first.link);
  await changeForm(page).send(newPassword);
  await expect(heading(page)).toHaveText('Password changed');
  await page.goto(second.link);
  await expect(page.getByText(texts['changed-failed-page-error-3'])).toBeVisible();
});

test('an unknown address gets the same answer, and no email', both, async ({ page, portal, inbox }) => {
  const nobody = `nobody-${crypto.randomUUID()}@acme.test`;
  await page.goto('/portal/forgotten');
  await forgottenForm(page).send(nobody);
  await expect(page).toHaveURL('/portal/emailInfo');
  await expect(page.getByText(texts['email-info-text'])).toBeVisible();
  await expect
    .poll(async () => await portal.run(['audit', '--event', 'password-forgotten', '--limit', '1']))
    .toMatchObject({ out: expect.stringContaining('unknown-user') });
  expect(inbox.count(nobody, 'resetLink')).toBe(0);
});

test('single sign-on users get a hint, and no link', both, async ({ page, portal, inbox, newPerson }) => {
  const { username, email } = await newPerson({ mayChangePassword: false });
  await portal.mustRun(['user', 'set', username, '--no-password']);
  await page.goto('/portal/forgotten');
  await forgottenForm(page).send(email);
  await expect(page).toHaveURL('/portal/emailInfo');
  const { link } = await inbox.take(email, 'singleSignOnHint');
  await page.goto(link);
  await expect(heading(page)).toHaveText('Single sign‑on');
});

test('a link viewed ten times still works; a used one says so', both, async ({ page, portal, inbox, newPerson }) => {
  const { username, email } = await newPerson();
  const link = await linkFor({ portal, inbox }, email);
  for (let look = 0; look < 10; look += 1) expect((await page.request.get(link)).status()).toBe(200);
  await page.goto(link);
  await changeForm(page).send(newPassword);
  await expect(heading(page)).toHaveText('Password changed');
  await page.goto(link);
  await expect(page).toHaveURL('/portal/forgottenChangedInfo?lang=en');
  await expect(heading(page)).toHaveText('Password changed');
  await page.getByRole('link', { name: 'Return to sign-in' }).click();
  await signInForm(page).send(username, newPassword);
  await expectSignedIn(page, username);
});

test('an expired link says so at once, and offers a new one', both, async ({ page, portal, inbox, newPerson }) => {
  const { username, email } = await newPerson();
  const link = await linkFor({ portal, inbox }, email);
  await onDatabaseOf(
    portal,
    (sql) => sql`
      update reset_link set made_at = now() - interval '1 hour 1 second', ends_at = now() - interval '1 second'
      where user_id = (select id from portal_user where username = ${username})`,
  );
  await page.goto(link);
  await expect(page).toHaveURL('/portal/forgottenChangeFailedInfo?reason=3&lang=en');
  await expect(heading(page)).toHaveText('Password not changed');
  await expect(page.getByText('This link has expired. Ask for a new one.')).toBeVisible();
  await page.getByRole('link', { name: 'Send a new link' }).click();
  await expect(page).toHaveURL('/portal/forgotten?lang=en');
  await forgottenForm(page).send(email);
  await page.goto((await inbox.take(email, 'resetLink')).link);
  await changeForm(page).send(newPassword);
  await expect(heading(page)).toHaveText('Password changed');
});

test(
  'a link that a mail program has decoded is its own, whatever page somebody else chose to follow',
  both,
  async ({ page, portal, inbox, newPerson }) => {
    const [{ username, email }, other] = [await newPerson(), await newPerson()];
    const others = hashOf(await linkFor({ portal, inbox }, other.email));
    const destination = `/portal/portal.html#/forgottenChange?hash=${others}`;
    await page.goto(`/portal/forgotten?${new URLSearchParams({ destination })}`);
    await forgottenForm(page).send(email);
    const { link } = await inbox.take(email, 'resetLink');
    await page.goto(decodeURIComponent(link));
    await expect(changeForm(page).hash).toHaveValue(hashOf(link));
    await changeForm(page).send(newPassword);
    await expect(heading(page)).toHaveText('Password changed');
    expect(await portal.signInPlainly(username, newPassword)).not.toBeNull();
    expect(await portal.signInPlainly(other.username, newPassword)).toBeNull();
  },
);

test('a link made by the help desk works the same way', both, async ({ page, portal, newPerson }) => {
  const { username } = await newPerson();
  const printed = await portal.mustRun(['user', 'reset-link', username]);
  await page.goto(/https?:\S+/.exec(printed)?.[0] ?? '');
  await expect(changeForm(page).username).toHaveValue(username);
  await changeForm(page).send(newPassword);
  await expect(heading(page)).toHaveText('Password changed');
});

test(
  'after too many requests from an address the form says when to try again, and keeps what was typed',
  both,
  async ({ page, portal, inbox, newPerson, javaScriptEnabled, watch }) => {
    watch.expect(/status of 429/, /general-error-something-went-wrong/);
    const { email } = await newPerson();
    await page.goto('/portal/forgotten');
    const key = 'reset-address:127.0.0.1';
    await onDatabaseOf(
      portal,
      (sql) => sql`
      insert into throttle (key, failures, changed_at, blocked_until, admitted)
      values (${key}, 101, now(), now() + interval '290 seconds', false)
      on conflict (key) do update set blocked_until = excluded.blocked_until`,
    );
    try {
      const answered = page.waitForResponse('**/password/forgotten');
      await forgottenForm(page).send(email);
      const answer = await answered;
      expect(answer.status()).toBe(429);
      expect(Number(await answer.headerValue('retry-after'))).toBeGreaterThan(200);
      if (javaScriptEnabled) {
        await expect(page.getByRole('alert')).toContainText('Try again in 5 minutes.');
        await expect(page.getByRole('alert')).toBeFocused();
      } else await expect(page.getByText(texts['notice-tooManyAttempts-title'])).toBeVisible();
      await expect(forgottenForm(page).email).toHaveValue(email);
    } finally {
      await onDatabaseOf(portal, (sql) => sql`delete from throttle where key = ${key}`);
    }
    await forgottenForm(page).button.click();
    await expect(heading(page)).toHaveText('Check your inbox');
    await inbox.take(email, 'resetLink');
  },
);

test('asking for a reset asks for an email address first', async ({ page }) => {
  await page.goto('/portal/forgotten');
  const { email, button } = forgottenForm(page);
  await expect(button).toBeDisabled();
  for (const wrong of ['ada', 'ada@', '@acme.test', 'a da@acme.test']) {
    await email.fill(wrong);
    await expect(button).toBeDisabled();
  }
  await email.blur();
  await expect(page.getByText('Enter the full address, such as name@company.example.')).toBeVisible();
  await email.fill('ada@acme.test');
  await expect(button).toBeEnabled();
});
