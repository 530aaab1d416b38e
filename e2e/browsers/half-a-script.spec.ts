import { appCode } from '../authenticator-app.ts';
import { textsOf } from '../texts.ts';
import { translate } from '../translated.ts';
import { isHere } from './engines.ts';
import { box, giveNameAndPassword, signedIn, signInAhead } from './sign-in.ts';
import { expect, password, test } from './test.ts';

// Each disturbance of ../half-a-script.spec.ts once, by the browser's own means or by the line: in Chromium every screen
// has each.

test.describe.configure({ mode: 'default', timeout: 120_000 });
test.skip(({ engine }) => !isHere(engine), 'this browser is not installed');

const texts = textsOf('en');
const other = { tag: '@other-engine' };

const mainScript = /\/assets\/main-[^/]+\.js$/;
const otherScripts = /\/assets\/(?!main-)[^/]+-[^/]+\.js$/;
const everyScript = /\/assets\/[^/]+-[^/]+\.js$/;

test('the script is blocked: the form signs in', other, async ({ line, onLine, newPerson }) => {
  const { username } = await newPerson();
  line.disturb(mainScript, 'refused');
  const visitor = await onLine();
  await visitor.open('/portal/portal.html?tab=2');
  await giveNameAndPassword(visitor, username);
  await visitor.isAt('/portal/portal.html?tab=2');
  await visitor.sees(signedIn);
});

test(
  'its other files are gone: links load documents, and a form is sent',
  other,
  async ({ line, onLine, newPerson, watch }) => {
    watch.expect(/import|module|404/i);
    const { email } = await newPerson();
    line.disturb(otherScripts, 'gone');
    const visitor = await onLine();
    await visitor.open('/portal/login');
    await visitor.isScripted();
    await visitor.press('link', texts['login-forgotten']);
    await visitor.sees(texts['forgotten-title']);
    await visitor.fill(texts.email, email);
    await visitor.press('button', texts['forgotten-button']);
    await visitor.sees(texts['email-info-title']);
  },
);

test(
  'it fails half-way: what the server sent comes back, and signs in',
  other,
  async ({ line, onLine, newPerson, watch }) => {
    watch.expect(/No title/);
    const { username } = await newPerson();
    line.runFirst(() =>
      Object.defineProperty(Document.prototype, 'title', {
        set() {
          throw new Error('No title');
        },
      }),
    );
    const visitor = await onLine();
    await visitor.open('/portal/login');
    await expect.poll(() => line.faults.join()).toContain('No title');
    await giveNameAndPassword(visitor, username);
    await visitor.sees(signedIn);
  },
);

test('filled in before it runs, storage refused: it keeps that', other, async ({ line, onLine, newPerson }) => {
  const { username } = await newPerson();
  line.runFirst(() => {
    for (const name of ['sessionStorage', 'localStorage'])
      Object.defineProperty(window, name, {
        get() {
          throw new DOMException('refused', 'SecurityError');
        },
      });
  });
  const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
  line.disturb(mainScript, isLetGo);
  const visitor = await onLine({ loads: 'document' });
  await visitor.open('/portal/login');
  await visitor.sees(texts['login-title']);
  // As a password manager does.
  await visitor.inPage(
    (name, secret) => {
      for (const [id, value] of [
        ['username', name],
        ['password', secret],
      ] as const) {
        const field = document.querySelector<HTMLInputElement>(`input[name=${id}]`) as HTMLInputElement;
        field.value = value;
        field.dispatchEvent(new Event('input', { bubbles: true }));
        field.dispatchEvent(new Event('change', { bubbles: true }));
      }
    },
    username,
    password,
  );
  letGo();
  await visitor.isScripted();
  await visitor.expectValue(texts['login-username'], username);
  await visitor.press('button', texts['login-button']);
  await visitor.sees(signedIn);
});

test(
  'open over a deployment, and shown again by Back: it signs in',
  other,
  async ({ line, onLine, newPerson, watch }) => {
    watch.expect(/import|module|404/i);
    const { username } = await newPerson();
    const visitor = await onLine();
    await visitor.open('/portal/login');
    await visitor.isScripted();
    await visitor.fill(texts['login-username'], username);
    line.disturb(everyScript, 'gone');
    await visitor.open('/portal/forgotten');
    await visitor.sees(texts['forgotten-title']);
    await visitor.back();
    await visitor.sees(texts['login-title']);
    await giveNameAndPassword(visitor, username);
    await visitor.sees(signedIn);
  },
);

test(
  'translated, and the line breaks while the script posts: it says so, and then goes on',
  other,
  async ({ portal, line, onLine, newPersonWithApp, watch }) => {
    watch.expect(/Two-factor code not verified/);
    const { username, key } = await newPersonWithApp();
    const mend = line.disturb(/\/verify$/, 'refused');
    await signInAhead(portal, line, username);
    const visitor = await onLine();
    await visitor.open('/portal/twoFactor');
    await visitor.isScripted();
    await visitor.inPage(translate);
    await visitor.expectFocus(box(1));
    const code = appCode(key);
    await visitor.type(code);
    await visitor.seesText(texts['twofa-error-try-again-with-code']);
    await visitor.expectValue(box(6), code.slice(-1));
    mend();
    await visitor.press('button', texts['twofa-verify']);
    await visitor.sees(signedIn);
  },
);

for (const how of ['refused', 'lost'] as const)
  test(
    `the line breaks while the browser posts, ${how}: Back leads to the form`,
    other,
    async ({ engine, line, onLine, newPerson }) => {
      const { username } = await newPerson();
      const mend = line.disturb(/\/performlogin$/, how);
      const visitor = await onLine();
      await visitor.open('/portal/login');
      await visitor.isScripted();
      await giveNameAndPassword(visitor, username);
      await visitor.isElsewhere();
      mend();
      await visitor.back();
      await visitor.sees(texts['login-title']);
      // Firefox keeps nothing of a page that must not be stored.
      if (engine !== 'Firefox') await visitor.expectValue(texts['login-username'], username);
      await giveNameAndPassword(visitor, username);
      await visitor.sees(signedIn);
    },
  );

test(
  'another tab goes first: this one says so, and a button leads on',
  other,
  async ({ portal, line, onLine, newPersonWithApp, watch }) => {
    watch.expect(/status of 401|Two-factor code not verified/);
    const { username, key } = await newPersonWithApp();
    await signInAhead(portal, line, username);
    const visitor = await onLine();
    await visitor.open('/portal/twoFactor');
    const second = await visitor.tab();
    await second.open('/portal/twoFactor');
    await second.expectFocus(box(1));
    await second.type(appCode(key));
    await second.sees(signedIn);
    await visitor.fill(box(1), '1');
    await visitor.type('23456');
    await visitor.sees(texts['notice-signInExpired-title']);
    await visitor.press('link', texts['sign-in-again']);
    await visitor.sees(signedIn);
  },
);

test('cookies off: the page says so and does not loop', other, async ({ engine, onLine, newPerson }) => {
  const { username } = await newPerson();
  const visitor = await onLine({ cookies: false });
  await visitor.open('/portal/login');
  await visitor.isScripted();
  // WebKitGTK's own setting, unlike Safari's, is not told to the page.
  if (engine === 'Firefox') await visitor.seesText(texts['cookies-blocked-title']);
  await giveNameAndPassword(visitor, username);
  await visitor.seesText(texts['notice-cookiesNeeded-text']);
  await visitor.sees(texts['login-title']);
});
