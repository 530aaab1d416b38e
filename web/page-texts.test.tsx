import { renderToString } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { type Language, languages } from '#contract/languages.ts';
import type { Page, RenderedPage } from '#contract/page.ts';
import de from '#messages/de.json' with { type: 'json' };
import en from '#messages/en.json' with { type: 'json' };
import es from '#messages/es.json' with { type: 'json' };
import italian from '#messages/it.json' with { type: 'json' };
import nl from '#messages/nl.json' with { type: 'json' };
import pl from '#messages/pl.json' with { type: 'json' };
import { App } from './app.tsx';
import { documentForTest as render } from './page-for-test.ts';
import { placeOfUrl } from './place.ts';
import { titleKey } from './screen-title.ts';
import { LaterScreen } from './screens/later-screen.tsx';

const textsOf: Record<Language, Record<string, string>> = { en, de, es, pl, nl, it: italian };

const secondFactor = { account: 'ada', mayRemember: true, mayRecover: true, sendAgainAfter: 30 };

const pages: [string, Partial<Page>][] = [
  ['/portal/login', {}],
  ['/portal/login?notice=signInExpired', {}],
  ['/portal/singleSignOn', {}],
  ['/portal/forgotten', {}],
  ['/portal/forgottenChange?hash=x&reason=2', {}],
  ['/portal/forgottenChangeFailedInfo?3', {}],
  ['/portal/loginfail/default', {}],
  ['/portal/twoFactor', { secondFactor }],
  ['/portal/twoFactor?codeSentViaEmail=true', { secondFactor }],
  ['/portal/twoFactor?recovery=true', { secondFactor }],
  ['/portal/twoFactorRegistration', { secondFactor }],
  ['/portal/x', { serverPage: { name: 'recoveryCodes', codes: ['7K2M-Q4XD'], left: 1, destination: '/a' } }],
  ['/portal/x', { serverPage: { name: 'leaving', isSignOut: false, url: '/x', provider: 'Acme' } }],
];

function sentWith(html: string): RenderedPage {
  return JSON.parse(/<script type="application\/json" id="page">(.*)<\/script>\n/.exec(html)?.[1] ?? '');
}

describe.each(languages)('the texts in a document in %s', (language) => {
  it.each(pages)('%s, %j', (url, more) => {
    const html = render(url, { language, ...more });
    const { texts, ...page } = sentWith(html);
    for (const [key, text] of Object.entries(texts)) expect(text, key).toBe(textsOf[language][key]);
    expect(Object.keys(texts).length).toBeLessThan(60);
    expect(texts).not.toHaveProperty('description');
    // They are enough to render the screen: what is missing throws.
    const place = placeOfUrl(url, page.rules.basePath);
    const app = <App {...{ page, place, language, texts }} laterScreen={LaterScreen} browser={null} />;
    expect(html).toContain(renderToString(app));
  });
});

describe.each(languages)('the texts of an invitation in %s', (language) => {
  it.each([
    ['/portal/forgottenChange?hash=x', ['title', 'password', 'repeat', 'button']],
    ['/portal/forgottenChange', ['title', 'no-link-text']],
    ['/portal/forgottenChangedInfo', ['done-title', 'done-text']],
    ['/portal/forgottenChangeFailedInfo?3', ['failed-title', 'over']],
    ['/portal/forgottenChangeFailedInfo?4', ['failed-title', 'failed-text']],
  ])('%s', (url, keys) => {
    const html = render(url, { language, invitation: 'choice' });
    const { texts, ...page } = sentWith(html);
    for (const key of keys) expect(Object.values(texts)).toContain(textsOf[language][`invitation-${key}`]);
    expect(html).toContain(`<title>${texts[titleKey(placeOfUrl(url, page.rules.basePath), page)]} `);
    // The script, which knows nothing of invitations, renders the same.
    const place = placeOfUrl(url, page.rules.basePath);
    const app = <App {...{ page, place, language, texts }} laterScreen={LaterScreen} browser={null} />;
    expect(html).toContain(renderToString(app));
  });
});

const has = (url: string, more: Partial<Page> = {}) => Object.keys(sentWith(render(url, more)).texts);

it('every document has the texts of leaving a screen and of a failed script', () => {
  const always = ['please-wait', 'general-error-something-went-wrong', 'reload'];
  for (const [url, more] of pages) expect(has(url, more)).toEqual(expect.arrayContaining(always));
});

describe('what a screen may come to show without the server', () => {
  it.each([
    ['/portal/login', ['signing-in', 'show-password', 'cookies-blocked-text']],
    ['/portal/singleSignOn', ['signing-in', 'email-invalid']],
    ['/portal/forgotten', ['email-invalid', 'problem-503-text', 'wait-until']],
    ['/portal/forgottenChange', ['strength-4', 'check-done', 'password-validation-common', 'change-no-link-text']],
    ['/portal/twoFactor', ['checking-code', 'code-digit', 'twofa-clock-slow', 'notice-tooManyCodes-text']],
    ['/portal/twoFactor?recovery=true', ['recovery-malformed', 'recovery-wrong']],
    ['/portal/twoFactor?codeSentViaEmail=true', ['twofa-send-over', 'notice-codeTooSoon-title', 'sign-in-again']],
    ['/portal/twoFactorRegistration', ['registration-qr', 'twofa-qr-code-unavailable', 'copied']],
  ])('%s', (url, keys) => expect(has(url, { secondFactor })).toEqual(expect.arrayContaining(keys)));
});
