import { expect, it } from 'vitest';
import { languages } from '#contract/languages.ts';
import { documentForTest } from '#test/support/page-for-test.ts';
import { allTexts } from '../all-texts.ts';

const choose = ['/portal/forgottenChange', 'change-failed-choose'] as const;
const newLink = ['/portal/forgotten', 'change-failed-new-link'] as const;
const support = ['https://x.example/support', 'contact-support'] as const;

/** Section 6 of the guidelines: the message by its number, and the remedy. */
const rows = [
  ['?reason=1', '-1', choose],
  ['?reason=2', '-2', newLink],
  ['?reason=3', '-3', newLink],
  ['?reason=4', '-4', newLink],
  ['?reason=5', '-5', choose],
  ['?reason=6', '-6', choose],
  ['?reason=7', '-7', support],
  ['?reason=8', '-8', support],
  ['?reason=9', '-9', choose],
  ['?reason=10', '-10', support],
  ['?reason=11', '-11', choose],
  ['?3', '-3', newLink],
  ['', '', choose],
  ['?99', '', choose],
  ['?reason=x', '', choose],
] as const;

it.each(languages)('each reason has its words and its remedy in %s', (language) => {
  const texts = allTexts[language];
  for (const [query, message, remedy] of rows) {
    const html = documentForTest(`/portal/forgottenChangeFailedInfo${query}`, { language });
    expect(html, query).toContain(`<p class="lede">${texts[`changed-failed-page-error${message}`]}</p>`);
    const [main = ''] = /<main.*<\/main>/.exec(html) ?? [];
    expect(main.match(/class="button"/g), query).toHaveLength(1);
    for (const [href, key] of [choose, support, remedy, ['/portal/login', 'return-to-login'] as const])
      expect(main, query).toContain(
        `<a href="${href}"${href === remedy[0] ? ' class="button"' : ''}>${texts[key]}</a>`,
      );
  }
});
