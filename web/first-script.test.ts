import { readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { languages } from '#contract/languages.ts';

/** What a visitor loads for the sign-in form. */
const longestScript = 70_000;

/** And beside it for any other screen. */
const longestLaterScript = 13.5 * 1024;

type Chunk = { file: string; imports?: string[]; dynamicImports?: string[] };

// The built pages, which the set-up of the tests brings up to date.
const pages = new URL('../dist/pages/', import.meta.url);
const chunks: Record<string, Chunk> = JSON.parse(readFileSync(new URL('.vite/manifest.json', pages), 'utf8'));
const main = chunks['web/main.tsx'] as Chunk;
const later = chunks['web/screens/later-screen.tsx'] as Chunk;

/** As sent to browsers that accept Brotli. */
const sizeOf = ({ file }: Chunk) => statSync(new URL(`${file}.br`, pages)).size;

it('the script of the first page is one file within its budget; other screens are one more, and each language’s texts', () => {
  expect(main.imports).toBeUndefined();
  expect(sizeOf(main)).toBeLessThanOrEqual(longestScript);
  expect(main.dynamicImports).toContain('web/screens/later-screen.tsx');
  expect(later.imports).toEqual(['web/main.tsx']);
  expect(sizeOf(later)).toBeLessThanOrEqual(longestLaterScript);
  for (const language of languages) {
    const path = `messages/${language}.json`;
    expect(main.dynamicImports).toContain(path);
    expect(chunks[path]?.imports, language).toBeUndefined();
  }
});
