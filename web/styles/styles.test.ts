import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ServerPage } from '#contract/page.ts';
import { eachRow } from '#testing/runs-all.ts';
import { documentForTest } from '../page-for-test.ts';

const root = new URL('../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const portal = namesOf(read('styles/portal.css'));
const later = namesOf(read('styles/later-screens.css'));
/** What only a document with the style of later screens can show. */
const onlyLater = [...later].filter((name) => !portal.has(name));

const leaving: ServerPage = { name: 'leaving', isSignOut: false, provider: 'Acme', url: 'https://idp.example/a' };

describe('a document without the style of later screens has nothing that it draws', () => {
  it('the sign-in form and the way to a provider', () =>
    eachRow(
      [
        ['/portal/', {}],
        ['/portal/login?login=ada', {}],
        ['/portal/login?notice=signInExpired', {}],
        ['/portal/login?notice=tooManyAttempts', {}],
        ['/portal/authenticate/start', { serverPage: leaving }],
        ['/portal/authenticate/start', { serverPage: { ...leaving, fields: { SAMLRequest: 'x' } } }],
        ['/portal/logout', { serverPage: { ...leaving, isSignOut: true } }],
      ],
      ([url, more]) => {
        const html = documentForTest(url, more);
        expect(html.match(/<style>/g)).toHaveLength(1);
        expect(onlyLater.filter((name) => namesOfDocument(html).has(name))).toEqual([]);
      },
    ));

  it('other pages have it', () =>
    eachRow(['/portal/forgotten', '/portal/loginfail/ip', '/portal/twoFactor', '/portal/nowhere'], (url) => {
      const html = documentForTest(url);
      expect(html).toContain('<style>body{}</style>\n<style>ol{}</style>\n</head>');
      expect(namesOfDocument(html).size).toBeGreaterThan(10);
    }));

  it('nor does the first script make it', () =>
    eachRow(firstSources('main.tsx'), (path) =>
      expect(onlyLater.filter((name) => namesOfSource(read(path)).has(name))).toEqual([]),
    ));
});

it('every class of a page has a rule', () => {
  const sources = globSync('{parts,screens}/*.tsx', { cwd: root.pathname }).filter((path) => !/\.test\./.test(path));
  const used = sources.flatMap((path) => [...namesOfSource(read(path))].filter((name) => name.startsWith('.')));
  expect(used.length).toBeGreaterThan(60);
  expect(used.filter((name) => !portal.has(name) && !later.has(name))).toEqual([]);
});

it('every class and element with a rule is on some page', () => {
  const sources = globSync('**/*.tsx', { cwd: root.pathname }).map(read).join('\n');
  const isUsed = (name: string) =>
    new RegExp(name.startsWith('.') ? `\\b${name.slice(1)}\\b` : `<${name}\\b`).test(sources);
  expect([...portal, ...later].filter((name) => !isUsed(name))).toEqual([]);
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

function namesOfDocument(html: string): Set<string> {
  const body = html.slice(html.indexOf('<body>'));
  const classes = [...body.matchAll(/ class="([^"]*)"/g)].flatMap(([, value = '']) => value.split(' '));
  return new Set([
    ...classes.map((name) => `.${name}`),
    ...[...body.matchAll(/<([a-z]\w*)/g)].map(([, tag = '']) => tag),
  ]);
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

/** The sources of the script that loads with every document: what it imports, but not on demand. */
function firstSources(path: string, found = new Set<string>()): string[] {
  if (found.has(path)) return [...found];
  found.add(path);
  for (const [, target = ''] of read(path).matchAll(/\bfrom '(\.[^']+\.tsx?)'/g))
    firstSources(new URL(target, new URL(path, root)).href.slice(root.href.length), found);
  return [...found];
}
