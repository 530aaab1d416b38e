import { appCode } from '../authenticator-app.ts';
import { appKey, backendData, type Sites, startSites } from '../sites-of-pages.ts';
import { textsOf } from '../texts.ts';
import { isHere } from './engines.ts';
import { Line } from './line.ts';
import { box, giveNameAndPassword } from './sign-in.ts';
import { test as base, expect, password } from './test.ts';

// The files of `vestibule pages` in front of a backend that is not ours. ../pages-only.spec.ts has more, in Chromium.

/** The line leads to one of the web servers; no portal of ours is asked. */
const test = base.extend<{ site: keyof Sites }>({
  site: ['nginx', { option: true }],
  line: async ({ oncePerWorker, site }, use) => {
    const { sites } = await oncePerWorker.get(startSites, undefined);
    const line = await Line.start(sites[site]);
    await use(line);
    line.close();
  },
});

test.describe.configure({ mode: 'default', timeout: 120_000 });
test.skip(({ engine }) => !isHere(engine), 'this browser is not installed');

const texts = textsOf('en');
const german = textsOf('de');
const polish = textsOf('pl');
const other = { tag: '@other-engine' };

test('behind nginx, a wrong password, a right one, an app and a reset lead on', other, async ({ onLine }) => {
  delete backendData.users.tom?.usedCode;
  const visitor = await onLine();
  await visitor.open('/portal/#/reports/7');
  await visitor.isScripted();
  await giveNameAndPassword(visitor, 'tom', 'wrong');
  await visitor.sees(texts['login-fail-default-title']);
  await giveNameAndPassword(visitor, 'tom', password);
  await visitor.expectFocus(box(1));
  await visitor.type(appCode(appKey));
  await visitor.sees('The hub');
  await visitor.isAt('/portal/portal.html#/reports/7');
  await visitor.open('/portal/login?lang=de');
  await visitor.press('link', german['login-forgotten']);
  await visitor.sees(german['forgotten-title']);
  await visitor.fill(german.email, 'ada@acme.test');
  await visitor.press('button', german['forgotten-button']);
  await visitor.sees(german['email-info-title']);
});

test('behind nginx, without JavaScript, the form signs in', other, async ({ onLine }) => {
  const visitor = await onLine({ javaScript: false });
  await visitor.open('/portal/login');
  await giveNameAndPassword(visitor, 'tom', password);
  await visitor.sees(texts['twofa-title']);
});

for (const site of ['nginx', 'any server'] as const)
  test.describe(`behind ${site}`, () => {
    test.use({ site });

    test('the first paint is in the visitor’s language', other, async ({ engine, line, onLine }) => {
      line.runFirst(() => {
        // Every text of the heading that was ever shown.
        const seen: string[] = [];
        const look = () => {
          const heading = document.querySelector('h1');
          const text = heading?.checkVisibility() ? (heading.textContent ?? '') : '';
          if (text && seen[seen.length - 1] !== text) seen.push(text);
          document.documentElement.setAttribute('data-seen', JSON.stringify(seen));
          requestAnimationFrame(look);
        };
        look();
      });
      // WebKitGTK asks for the language of the machine, so there the address does.
      const isToldByBrowser = engine !== 'WebKit';
      const visitor = await onLine(isToldByBrowser ? { language: 'pl-PL' } : {});
      await visitor.open(isToldByBrowser ? '/portal/login' : '/portal/login?lang=pl');
      await visitor.isScripted();
      const { title } = await visitor.sees(polish['login-title']);
      expect(title).toBe(`${polish['login-title']} · Vestibule`);
      await visitor.expectLanguage('pl');
      const seen = await visitor.inPage(() => document.documentElement.getAttribute('data-seen'));
      expect(JSON.parse(seen ?? '')).toEqual([polish['login-title']]);
    });
  });
