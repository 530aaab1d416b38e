import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const ruled = namesOf(read('styles/portal.css') + read('styles/screens.css'));

it('every class of a page has a rule', () => {
  const sources = globSync('{components,screens}/*.tsx', { cwd: root.pathname }).filter(
    (path) => !/\.test\./.test(path),
  );
  const used = sources.flatMap((path) => [...namesOfSource(read(path))].filter((name) => name.startsWith('.')));
  expect(used.length).toBeGreaterThan(60);
  expect(used.filter((name) => !ruled.has(name))).toEqual([]);
});

it('every class and element with a rule is on some page', () => {
  const sources = globSync('**/*.tsx', { cwd: root.pathname }).map(read).join('\n');
  const isUsed = (name: string) =>
    new RegExp(name.startsWith('.') ? `\\b${name.slice(1)}\\b` : `<${name}\\b`).test(sources);
  expect([...ruled].filter((name) => !isUsed(name))).toEqual([]);
});

/** The classes in the selectors of a style, and the elements that have rules without a class. */
function namesOf(css: string): Set<string> {
  const plain = css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/@keyframes[\s\S]*?\n\}/g, '')
    .replace(/@[^{};]*[{;]/g, '');
  const selectors = [...plain.matchAll(/(?<=^|[{};])([^{};]*)\{/g)].map(([, selector = '']) => selector);
  const classes = selectors.flatMap((selector) => selector.match(/\.[a-z][\w-]*/g) ?? []);
  const elements = selectors.flatMap((selector) =>
    selector.split(',').map((one) => /^\s*([a-z]\w*)\s*$/.exec(one)?.[1] ?? ''),
  );
  return new Set([...classes, ...elements.filter(Boolean)]);
}

/** The elements that a source makes, and the words of all that it gives as a class. */
function namesOfSource(source: string): Set<string> {
  const given = [...source.matchAll(/\bclassName(?:=|: | = )("[^"]*"|\{[^}]*\}|[^,;]*)/g)].map(
    ([, value = '']) => value,
  );
  const literals = given.flatMap((value) =>
    [...value.replace(/=== '\w+'/g, '').matchAll(/['"`]([^'"`]*)['"`]/g)].map(([, text = '']) => text),
  );
  const classes = literals.flatMap((text) => text.replace(/\$\{.*/, '').match(/[a-z][\w-]*/g) ?? []);
  return new Set([
    ...classes.map((name) => `.${name}`),
    ...[...source.matchAll(/<([a-z]\w*)[\s>/]/g)].map(([, tag = '']) => tag),
  ]);
}
