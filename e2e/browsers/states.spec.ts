import { appCode } from '../authenticator-app.ts';
import { PlainBrowser } from '../plain-browser.ts';
import { textsOf } from '../texts.ts';
import { isHere } from './engines.ts';
import { box, signedIn, signInAhead } from './sign-in.ts';
import { password, test } from './test.ts';
import type { Visitor } from './visitor.ts';

// Of the walk over all states (../state-walk.spec.ts), what a browser decides: reload, Back, the menu of languages, two
// presses, two tabs.

test.describe.configure({ mode: 'default', timeout: 120_000 });
test.skip(({ engine }) => !isHere(engine), 'this browser is not installed');

const texts = textsOf('en');
const german = textsOf('de');
const other = { tag: '@other-engine' };
const asked = (tab: number) => `/portal/portal.html?tab=${tab}#/reports/7`;

/** Comes back to the same screen by a reload and by Back, and changes the language to and fro. */
async function comesBack(visitor: Visitor, heading: string, inGerman: string): Promise<void> {
  // Browsers report what a page left early was still loading.
  await visitor.sees(heading);
  await visitor.isScripted();
  await visitor.reload();
  await visitor.sees(heading);
  await visitor.isScripted();
  await visitor.open('/portal/emailInfo');
  await visitor.sees(texts['email-info-title']);
  await visitor.isScripted();
  await visitor.back();
  await visitor.sees(heading);
  await visitor.isScripted();
  await choose(visitor, 'de');
  await visitor.sees(inGerman);
  await choose(visitor, 'en');
  await visitor.sees(heading);
}

/** Chooses a language as the list tells the page; journeys.spec.ts does it by keyboard. */
async function choose(visitor: Visitor, language: 'de' | 'en'): Promise<void> {
  await visitor.inPage((value) => {
    const menu = document.querySelector('#lang') as HTMLSelectElement;
    menu.value = value;
    menu.dispatchEvent(new Event('change', { bubbles: true }));
  }, language);
}

async function arrives(visitor: Visitor, tab: number, username: string): Promise<void> {
  await visitor.sees(signedIn);
  await visitor.isAt(asked(tab));
  await visitor.seesText(`Username ${username}`);
}

test('nobody: reload, Back, another language and two presses', other, async ({ onLine, newPerson }) => {
  const { username } = await newPerson();
  const visitor = await onLine();
  await visitor.open(asked(2));
  await comesBack(visitor, texts['login-title'], german['login-title']);
  await visitor.fill(texts['login-username'], username);
  await visitor.fill(texts['login-password'], password);
  await visitor.press('button', texts['login-button'], 2);
  await arrives(visitor, 2, username);
});

test(
  'nobody, without JavaScript: reload, Back, another language and two presses',
  other,
  async ({ onLine, newPerson }) => {
    const { username } = await newPerson();
    const visitor = await onLine({ javaScript: false });
    await visitor.open('/portal/portal.html?tab=2');
    await visitor.sees(texts['login-title']);
    await visitor.reload();
    await visitor.sees(texts['login-title']);
    await visitor.press('link', texts['login-forgotten']);
    await visitor.sees(texts['forgotten-title']);
    await visitor.back();
    await visitor.sees(texts['login-title']);
    await choose(visitor, 'de');
    await visitor.press('button', texts['language-apply']);
    await visitor.sees(german['login-title']);
    await visitor.fill(german['login-username'], username);
    await visitor.fill(german['login-password'], password);
    await visitor.press('button', german['login-button'], 2);
    await visitor.isAt('/portal/portal.html?tab=2');
    await visitor.seesText(username);
  },
);

test('must register an app: reload, Back and another language', other, async ({ portal, line, onLine, newPerson }) => {
  const { username } = await newPerson({ customers: ['apps'] });
  await signInAhead(portal, line, username);
  const visitor = await onLine();
  await visitor.open(asked(2));
  await comesBack(visitor, texts['registration-title'], german['registration-title']);
  const key = await visitor.inPage(() => document.querySelector('.secret')?.textContent?.replace(/\s/g, '') ?? '');
  await visitor.fill(box(1), '');
  await visitor.type(appCode(key));
  await visitor.sees(texts['recovery-codes-title']);
  await visitor.press('link', texts.continue);
  await visitor.sees(signedIn);
  await arrives(visitor, 2, username);
});

test(
  'code by email awaited: another tab goes first, each to its own page',
  other,
  async ({ portal, line, onLine, inbox, newPerson }) => {
    const { username, email } = await newPerson({ customers: ['mails'] });
    await (await PlainBrowser.signIn(portal, username, password)).registerEmail(inbox, email);
    await signInAhead(portal, line, username);
    const { code } = await inbox.take(email, 'signInCode');
    const visitor = await onLine();
    await visitor.open(asked(2));
    await visitor.sees(texts['twofa-email-title']);
    const second = await visitor.tab();
    await second.open(asked(3));
    await second.expectFocus(box(1));
    await second.type(code);
    await arrives(second, 3, username);
    // The tab that waited needs no second sign-in.
    await visitor.sees(texts['twofa-email-title']);
    await visitor.reload();
    await arrives(visitor, 2, username);
  },
);
