import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type Language, languages } from '#contract/languages.ts';
import de from '#messages/de.json' with { type: 'json' };
import en from '#messages/en.json' with { type: 'json' };
import es from '#messages/es.json' with { type: 'json' };
import italian from '#messages/it.json' with { type: 'json' };
import nl from '#messages/nl.json' with { type: 'json' };
import pl from '#messages/pl.json' with { type: 'json' };

const textsOf: Record<Language, Record<string, string>> = { en, de, es, pl, nl, it: italian };

/** The rows of a table of docs/words.md, by column. */
function rowsOf(heading: string): Record<string, string>[] {
  const page = readFileSync(new URL('../docs/words.md', import.meta.url), 'utf8');
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const [columns = [], , ...rows] = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.map((cells) => Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])));
}

const terms = rowsOf('Terms');
const avoided = rowsOf('Words to avoid');

/** Keys of the texts that have a term as words of their own, whatever the case of its letters. */
function keysWith(language: Language, term: string): string[] {
  const words = new RegExp(`(?<!\\p{L})${term.replaceAll('.', '\\.')}(?!\\p{L})`, 'iu');
  return Object.keys(textsOf[language]).filter((key) => words.test(textsOf[language][key] ?? ''));
}

it('the glossary is read', () => {
  expect(terms.length).toBeGreaterThan(20);
  expect(avoided.length).toBeGreaterThan(20);
});

it.each(languages)('%s has one term per idea and says it, and never says a word to avoid', (language) => {
  for (const { Idea, [language]: term = '' } of terms) {
    expect(term, Idea).not.toBe('');
    expect(keysWith(language, term), Idea).not.toEqual([]);
  }
  const own = terms.map((row) => row[language]);
  expect(own).toEqual([...new Set(own)]);
  for (const { Language, Never = '' } of avoided)
    if (Language === language) expect(keysWith(language, Never), Never).toEqual([]);
});

it('every text that speaks of two-step verification does so in every language', () => {
  const stems: Record<Language, string> = {
    en: 'two-step verification',
    de: 'Zwei-Faktor-Authentifizierung',
    es: 'verificación en dos pasos',
    it: 'verifica in due passaggi',
    nl: 'tweestapsverificatie',
    pl: 'weryfikacj\\p{L}+ dwuetapow\\p{L}+',
  };
  const keys = keysWith('en', stems.en).filter((key) => key !== 'registration-email-text');
  expect(keys.length).toBeGreaterThan(10);
  for (const language of languages) expect(keysWith(language, stems[language])).toEqual(expect.arrayContaining(keys));
});
