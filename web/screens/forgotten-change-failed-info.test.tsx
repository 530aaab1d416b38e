import { expect, it } from 'vitest';
import { languages } from '#contract/languages.ts';
import de from '#messages/de.json' with { type: 'json' };
import en from '#messages/en.json' with { type: 'json' };
import es from '#messages/es.json' with { type: 'json' };
import italian from '#messages/it.json' with { type: 'json' };
import nl from '#messages/nl.json' with { type: 'json' };
import pl from '#messages/pl.json' with { type: 'json' };
import type { MessageKey, Texts } from '../messages.ts';
import { documentForTest } from '../page-for-test.ts';

const textsOf: Record<string, Texts> = { en, de, es, pl, nl, it: italian };

const choose = { href: '/portal/forgottenChange', key: 'change-failed-choose' } as const;
const newLink = { href: '/portal/forgotten', key: 'change-failed-new-link' } as const;
const support = { href: 'https://x.example/support', key: 'contact-support' } as const;

type Row = [query: string, text: MessageKey, primary: { href: string; key: MessageKey }];

/** Section 6 of the guidelines: the message and the remedy. */
const rows: Row[] = [
  ['?reason=1', 'changed-failed-page-error-1', choose],
  ['?reason=2', 'changed-failed-page-error-2', newLink],
  ['?reason=3', 'changed-failed-page-error-3', newLink],
  ['?reason=4', 'changed-failed-page-error-4', newLink],
  ['?reason=5', 'changed-failed-page-error-5', choose],
  ['?reason=6', 'changed-failed-page-error-6', choose],
  ['?reason=7', 'changed-failed-page-error-7', support],
  ['?reason=8', 'changed-failed-page-error-8', support],
  ['?reason=9', 'changed-failed-page-error-9', choose],
  ['?reason=10', 'changed-failed-page-error-10', support],
  ['?reason=11', 'changed-failed-page-error-11', choose],
  ['?3', 'changed-failed-page-error-3', newLink],
  ['?11', 'changed-failed-page-error-11', choose],
  ['', 'changed-failed-page-error', choose],
  ['?99', 'changed-failed-page-error', choose],
  ['?reason=0', 'changed-failed-page-error', choose],
  ['?reason=x', 'changed-failed-page-error', choose],
];

function linksOf(html: string) {
  const content = /<main.*<\/main>/.exec(html)?.[0] ?? '';
  return [...content.matchAll(/<a ([^>]*)>([^<]*)<\/a>/g)].map(([, attributes = '', text]) => ({
    href: /href="([^"]*)"/.exec(attributes)?.[1],
    isPrimary: /class="button"/.test(attributes),
    text,
  }));
}

it.each(languages)('each reason has its words and its remedy in %s', (language) => {
  const texts = textsOf[language] as Texts;
  for (const [query, key, primary] of rows) {
    const html = documentForTest(`/portal/forgottenChangeFailedInfo${query}`, { language });
    expect(html, query).toContain(`<p class="lede">${texts[key]}</p>`);
    const links = linksOf(html);
    expect(
      links.filter(({ isPrimary }) => isPrimary),
      query,
    ).toEqual([{ href: primary.href, isPrimary: true, text: texts[primary.key] }]);
    for (const { href, key } of [choose, support, { href: '/portal/login', key: 'return-to-login' } as const]) {
      expect(
        links.filter((link) => link.href === href),
        query,
      ).toEqual([{ href, isPrimary: href === primary.href, text: texts[key] }]);
    }
  }
});
