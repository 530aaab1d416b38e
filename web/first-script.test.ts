import { brotliCompressSync, constants } from 'node:zlib';
import { createBuilder, type Rolldown } from 'vite';
import { beforeAll, describe, expect, it } from 'vitest';
import { languages } from '#contract/languages.ts';

/** What a visitor loads for the sign-in form, script and texts together. */
const longestScript = 76_800;

describe('the script of the first page', () => {
  const chunks = new Map<string, Rolldown.OutputChunk>();

  beforeAll(async () => {
    const builder = await createBuilder({ logLevel: 'silent', environments: { client: { build: { write: false } } } });
    const built = await builder.build(builder.environments.client as NonNullable<typeof builder.environments.client>);
    if (!('output' in built)) throw new Error('The build of the pages is one bundle');
    for (const file of built.output) if (file.type === 'chunk') chunks.set(file.name, file);
  }, 30_000);

  it.each(languages)('stays within its budget with the texts in %s', (language) => {
    const size = sizeOf('main') + sizeOf(language);
    expect(size).toBeLessThanOrEqual(longestScript);
  });

  it('is one file and the texts', () => expect(chunks.get('main')?.imports).toEqual([]));

  it('leaves later screens to a file that only they load', () => {
    expect(chunks.get('main')?.dynamicImports).toContain(chunks.get('later-screen')?.fileName);
    for (const key of ['twofa-verify', 'registration-scan', 'recovery-codes-few']) {
      expect(chunks.get('later-screen')?.code).toContain(key);
      expect(chunks.get('main')?.code).not.toContain(key);
    }
  });

  function sizeOf(name: string): number {
    const code = chunks.get(name)?.code ?? '';
    expect(code).not.toBe('');
    return brotliCompressSync(code, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;
  }
});
