import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
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

const codeOf = ({ file }: Chunk) => readFileSync(new URL(file, pages), 'utf8');
/** As sent to browsers that accept Brotli. */
const sizeOf = ({ file }: Chunk) => statSync(new URL(`${file}.br`, pages)).size;

describe('the script of the first page', () => {
  it('is one file within its budget', () => {
    expect(main.imports).toBeUndefined();
    expect(sizeOf(main)).toBeLessThanOrEqual(longestScript);
  });

  it('leaves other screens to one more file, which stays within its budget', () => {
    expect(main.dynamicImports).toContain('web/screens/later-screen.tsx');
    expect(later.imports).toEqual(['web/main.tsx']);
    for (const key of ['twofa-verify', 'registration-scan', 'recovery-codes-few', 'forgotten-button', 'sso-button']) {
      expect(codeOf(later)).toContain(key);
      expect(codeOf(main)).not.toContain(key);
    }
    expect(sizeOf(later)).toBeLessThanOrEqual(longestLaterScript);
  });

  it('has no texts: those of each language are a file of their own', () => {
    for (const language of languages) {
      const path = `messages/${language}.json`;
      expect(main.dynamicImports).toContain(path);
      expect(chunks[path]?.imports, language).toBeUndefined();
    }
  });
});
