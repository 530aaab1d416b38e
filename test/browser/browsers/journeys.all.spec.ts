import { appCode, wrongAppCodes } from '../../support/authenticator-app.ts';
import { newPassword } from '../forms.ts';
import { startOpenIdProviderOf, startSamlProviderOf } from '../providers-of-portal.ts';
import { texts, textsOf } from '../texts.ts';
import { expect, password, test } from './test.ts';
import type { Visitor } from './visitor.ts';

// What everybody does with the portal, in every browser that there is. All other tests are in Chromium only.

test.describe.configure({ mode: 'default', timeout: 120_000 });

const german = textsOf('de');
const signedIn = 'You’re signed in';
const box = (position: number, { 'code-digit': digit } = texts) =>
  digit.replace('{position}', String(position)).replace('{length}', '6');

async function giveNameAndPassword(visitor: Visitor, username: string, secret = password): Promise<void> {
  await visitor.fill(texts['login-username'], username);
  await visitor.fill(texts['login-password'], secret);
  await visitor.press('button', texts['login-button']);
}

for (const fragment of ['#/reports/7', ''])
  test(`a deep link arrives after a wrong password and the right one, ${fragment ? 'with' : 'without'} JavaScript`, async ({
    visitor: scripted,
    visitorWithoutScript,
    newPerson,
  }) => {
    const visitor = fragment ? scripted : visitorWithoutScript;
    const { username } = await newPerson();
    // Without JavaScript nobody can keep the fragment.
    const asked = `/portal/portal.html?tab=2&filter=a%26b${fragment}`;
    await visitor.open(asked);
    await visitor.sees(texts['login-title']);
    await giveNameAndPassword(visitor, username, 'not-the-password');
    await visitor.sees(texts['login-fail-default-title']);
    if (fragment) await visitor.expectValue(texts['login-username'], username);
    await giveNameAndPassword(visitor, username);
    await visitor.isAt(asked);
    await visitor.seesText(`Username ${username}`);
    await visitor.press('button', 'Sign out');
    await visitor.sees(texts['login-title']);
    await visitor.open(asked);
    await visitor.sees(texts['login-title']);
  });

test('a forgotten password is changed by the link of an email', async ({ visitor, inbox, newPerson }) => {
  const { username, email } = await newPerson();
  await visitor.open('/portal/login');
  await visitor.press('link', texts['login-forgotten']);
  await visitor.sees(texts['forgotten-title']);
  await visitor.fill(texts.email, email);
  await visitor.press('button', texts['forgotten-button']);
  await visitor.sees(texts['email-info-title']);
  const { link } = await inbox.take(email, 'resetLink');
  await visitor.open(link);
  await visitor.sees(texts['change-title']);
  // The script takes the secret out of the address.
  await visitor.isAt('/portal/forgottenChange?lang=en');
  await visitor.fill(texts['change-password'], newPassword);
  await visitor.fill(texts['change-repeat'], newPassword);
  await visitor.press('button', texts['change-button']);
  await visitor.sees(texts['changed-title']);
  await visitor.press('link', texts['return-to-login']);
  await visitor.sees(texts['login-title']);
  await giveNameAndPassword(visitor, username, newPassword);
  await visitor.sees(signedIn);
});

test('a code of an app is typed into six boxes, wrong and right', async ({ visitor, newPersonWithApp, watch }) => {
  watch.expect(/Two-factor code not verified: wrong/);
  const { username, key } = await newPersonWithApp();
  await visitor.open('/portal/portal.html?tab=2#/reports/7');
  await giveNameAndPassword(visitor, username);
  await visitor.expectFocus(box(1));
  await visitor.isScripted();
  await visitor.type(wrongAppCodes(key, 1)[0] ?? '');
  await visitor.seesText(texts['twofa-error-try-again-with-code']);
  await visitor.expectFocus(box(1));
  await visitor.expectValue(box(6), '');
  await visitor.type(appCode(key));
  await visitor.isAt('/portal/portal.html?tab=2#/reports/7');
  await visitor.sees(signedIn);
});

test('a code by email is typed into six boxes, also after a reload', async ({ visitor, inbox, newPerson }) => {
  const { username, email } = await newPerson({ customers: ['mails'] });
  await visitor.open('/portal/login');
  await giveNameAndPassword(visitor, username);
  await visitor.seesText(texts['registration-email-text']);
  const { code } = await inbox.take(email, 'signInCode');
  await visitor.reload();
  await visitor.expectFocus(box(1));
  await visitor.isScripted();
  await visitor.type(code);
  await visitor.sees(signedIn);
});

test('the language changes in place, keeps what was typed, and stays', async ({ visitor }) => {
  await visitor.open('/portal/login');
  await visitor.expectDisabled(texts['login-button']);
  await visitor.fill(texts['login-username'], 'ada');
  await visitor.choose(texts.language, 'Deutsch');
  await visitor.sees(german['login-title']);
  await visitor.expectLanguage('de');
  await visitor.expectValue(german['login-username'], 'ada');
  await visitor.press('link', german['login-forgotten']);
  await visitor.sees(german['forgotten-title']);
  await visitor.reload();
  await visitor.sees(german['forgotten-title']);
});

test('Back leads to the screen before, with what was typed, and after sign-out to nobody’s page', async ({
  visitor,
  newPerson,
}) => {
  const { username } = await newPerson();
  await visitor.open('/portal/login');
  await visitor.fill(texts['login-username'], username);
  await visitor.press('link', texts['login-forgotten']);
  await visitor.sees(texts['forgotten-title']);
  await visitor.back();
  await visitor.sees(texts['login-title']);
  await visitor.expectValue(texts['login-username'], username);
  await visitor.fill(texts['login-password'], password);
  await visitor.press('button', texts['login-button']);
  await visitor.sees(signedIn);
  await visitor.press('button', 'Sign out');
  await visitor.sees(texts['login-title']);
  await visitor.back();
  expect(await visitor.sees(texts['login-title'])).not.toContain(username);
});

// The providers are at another site than the portal: what a browser sends along from there, and keeps, is its own.

const asked = '/portal/portal.html?tab=2#/reports/7';

/** As far as the provider's page. */
async function leaveFor(visitor: Visitor, provider: string, email: string): Promise<void> {
  await visitor.open(asked);
  await visitor.press('button', texts['login-sso']);
  await visitor.sees(texts['sso-title']);
  await visitor.fill(texts.email, email);
  await visitor.press('button', texts['sso-button']);
  await visitor.sees(provider);
}

test('an OpenID provider: Back leads to a form that works, a cancelled visit to a way on, and then the deep link arrives', async ({
  engine,
  visitor,
  portal,
  oncePerWorker,
}) => {
  await oncePerWorker.get(startOpenIdProviderOf, portal);
  const provider = 'Sign in at the provider';
  await leaveFor(visitor, provider, 'olga@oidc.test');
  // The driver of WebKitGTK 2.50 loses a kept page after another site’s.
  if (engine !== 'WebKit') {
    await visitor.back();
    await visitor.sees(texts['sso-title']);
    await visitor.fill(texts.email, 'olga@oidc.test');
    await visitor.press('button', texts['sso-button']);
    await visitor.sees(provider);
  }
  await visitor.press('link', 'Cancel');
  await visitor.sees(texts['notice-signInCancelled-title']);
  await visitor.press('link', texts['return-to-login']);
  await visitor.sees(texts['login-title']);
  await leaveFor(visitor, provider, 'olga@oidc.test');
  await visitor.expectValue('Email', 'olga@oidc.test');
  await visitor.press('button', 'Sign in');
  await visitor.isAt(asked);
  await visitor.seesText('Username olga');
});

test('a deep link with a fragment survives the way to a SAML provider and back', async ({
  visitor,
  portal,
  oncePerWorker,
}) => {
  await oncePerWorker.get(startSamlProviderOf, portal);
  await leaveFor(visitor, 'Sign in at the identity provider', 'sam@saml.test');
  await visitor.fill('Email', 'sam@saml.test');
  // The provider's page with the answer posts itself.
  await visitor.press('button', 'Sign in');
  await visitor.isAt(asked);
  await visitor.seesText('Username sam');
});
