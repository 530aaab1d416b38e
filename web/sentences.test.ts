import { expect, it } from 'vitest';
import { languages } from '#contract/languages.ts';
import { notices } from '#contract/notices.ts';
import { documentForTest } from '#test/support/page-for-test.ts';

/** The text of each element that matches, as a screen reader is given it. */
function heardIn(html: string, element: RegExp): string[] {
  return [...html.matchAll(element)].map(([, inside = '']) =>
    inside
      .replace(/<!--.*?-->|<[^>]*>/g, '')
      .replaceAll('&#x27;', '’')
      .trim(),
  );
}

const alerts = /<div class="alert(?: bad)?"[^>]*>(.*?)<\/div>/gs;
const rules = /<li aria-atomic="true">(.*?)<\/li>/gs;

/** A sentence that runs into the next one: “blockedSigning”, or a title without its full stop. */
const joined = /\p{Ll}\p{Lu}(?!cript)/u;

it.each(languages)('no text joins two sentences for a screen reader, in %s', (language) => {
  for (const notice of notices)
    for (const path of ['login', 'singleSignOn', 'forgotten', 'forgottenChange']) {
      const html = documentForTest(`/portal/${path}?notice=${notice}`, { language });
      for (const heard of heardIn(html, alerts)) {
        expect(heard, notice).not.toMatch(joined);
        expect(heard, notice).toMatch(/^[^.]+\. \S.*[.\p{L}]$/u);
      }
    }
  for (const url of ['/portal/emailInfo', '/portal/forgottenChange']) {
    const heard = heardIn(documentForTest(url, { language }), alerts);
    expect(heard, url).not.toEqual([]);
    for (const text of heard) expect(text).toMatch(/^[^.]+\. \S/);
  }
  // The rules of a new password are read out one after the other.
  const heard = heardIn(documentForTest('/portal/forgottenChange', { language }), rules);
  expect(heard).toHaveLength(4);
  for (const text of heard) expect(text).toMatch(/\S \([^)]+\)\.$/);
});
