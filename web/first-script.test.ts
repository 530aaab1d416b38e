import { createBuilder, type Rolldown } from 'vite';
import { beforeAll, describe, expect, it } from 'vitest';
import { languages } from '#contract/languages.ts';

/** What a visitor loads for the sign-in form. */
const longestScript = 66.5 * 1024;

/** And beside it, with its style, for any other screen. */
const longestLaterScript = 13.5 * 1024;

describe('the script of the first page', () => {
  const chunks = new Map<string, Rolldown.OutputChunk>();
  /** As sent to browsers that accept Brotli. */
  const sent = new Map<string, string | Uint8Array>();

  beforeAll(async () => {
    const builder = await createBuilder({ logLevel: 'silent', environments: { client: { build: { write: false } } } });
    const built = await builder.build(builder.environments.client as NonNullable<typeof builder.environments.client>);
    if (!('output' in built)) throw new Error('The build of the pages is one bundle');
    for (const file of built.output) {
      if (file.type === 'chunk') chunks.set(file.name, file);
      else sent.set(file.fileName, file.source);
    }
    // A build, on a busy machine.
  }, 120_000);

  it('stays within its budget', () => expect(sizeOf('main')).toBeLessThanOrEqual(longestScript));

  it('is one file', () => expect(chunks.get('main')?.imports).toEqual([]));

  it('leaves other screens to one more file, which stays within its budget', () => {
    const later = chunks.get('later-screen');
    expect(chunks.get('main')?.dynamicImports).toContain(later?.fileName);
    expect(later?.imports).toEqual([chunks.get('main')?.fileName]);
    expect(later?.dynamicImports).toEqual([]);
    for (const key of ['twofa-verify', 'registration-scan', 'recovery-codes-few', 'forgotten-button', 'sso-button']) {
      expect(later?.code).toContain(key);
      expect(chunks.get('main')?.code).not.toContain(key);
    }
    expect(sizeOf('later-screen')).toBeLessThanOrEqual(longestLaterScript);
  });

  it.each(languages)('has no texts: those in %s are a file of their own', (language) => {
    const texts = chunks.get(language);
    expect(chunks.get('main')?.dynamicImports).toContain(texts?.fileName);
    expect([texts?.imports, texts?.dynamicImports]).toEqual([[], []]);
  });

  function sizeOf(name: string): number {
    const size = sent.get(`${chunks.get(name)?.fileName}.br`)?.length ?? 0;
    expect(size).toBeGreaterThan(0);
    return size;
  }
});
