import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { asvsDocument, printRequirements, requirements } from '#testing/asvs-document.ts';

const root = new URL('../', import.meta.url);

it('the document shows the current list (node testing/asvs-document.ts)', () => {
  expect(readFileSync(asvsDocument, 'utf8')).toBe(printRequirements());
});

it('every requirement has a state and evidence, and a reason if it is not met', () => {
  expect(new Set(requirements.map(({ id }) => id)).size).toBe(258);
  for (const { id, state, evidence, why } of requirements) {
    expect(evidence, id).not.toEqual([]);
    if (state !== 'met') expect(why, id).toMatch(/\.$/);
    if (state === 'not met') expect(why, id).toContain('What to do: ');
  }
});

it('every named file exists, and every named test is in its file', () => {
  const missing = requirements.flatMap(({ id, evidence }) =>
    evidence.flatMap((named) => {
      const { file, says } = typeof named === 'string' ? { file: named.split('#', 1)[0] as string, says: '' } : named;
      const path = new URL(file, root);
      if (!existsSync(path)) return [`${id}: ${file}`];
      return says === '' || readFileSync(path, 'utf8').includes(says) ? [] : [`${id}: ${file}: ${says}`];
    }),
  );
  expect(missing).toEqual([]);
});
