import { readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };

const root = new URL('../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** Every text of ours, by its path. */
const texts = new Map(
  ['contract', 'messages', 'web', 'server', 'demo', 'e2e', 'bench', 'docs']
    .flatMap((room) => readdirSync(new URL(room, root), { recursive: true }).map((path) => `${room}/${path}`))
    .concat(readdirSync(root).filter((name) => name.endsWith('.md')))
    .filter((path) => /\.(ts|tsx|sql|css|md)$/.test(path) && !/node_modules|old-browsers\/cache|\/dist\//.test(path))
    .map((path) => [path, read(path)]),
);

/** A text in one line, so that a reference may be broken over two lines of a comment. */
const inOneLine = (text: string) => text.replace(/\s*\n\s*(?:\*|\/\/|--)?\s*/g, ' ');

function found(pattern: RegExp): { path: string; match: RegExpMatchArray }[] {
  return [...texts].flatMap(([path, text]) => [...inOneLine(text).matchAll(pattern)].map((match) => ({ path, match })));
}

/** The anchors of a document's headings, as repository pages make them. */
const anchors = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );

describe('references', () => {
  it('to a section of the requirements resolve to its heading', () => {
    const headings = read('docs/requirements.md').match(/^### .+$/gm) ?? [];
    const references = found(/\b(specification|decisions)((?:,? (?:and )?§\d+)+)/gi).flatMap(({ path, match }) =>
      (match[2]?.match(/§\d+/g) ?? []).map((section) => ({ path, name: `${match[1]} ${section}` })),
    );
    expect(references.length).toBeGreaterThan(60);
    for (const { path, name } of references) {
      expect(headings, `${name} in ${path}`).toContain(`### ${name[0]?.toUpperCase()}${name.slice(1).toLowerCase()}`);
    }
  });

  it('to a section of the requirements are written in one way, so that none is overlooked', () => {
    const others = found(/\b(?:specification|decisions)(?:'s)? (?:sections? )?(?:\d|section)/gi);
    expect(others.map(({ path, match }) => `${match[0]} in ${path}`)).toEqual([]);
  });

  it('to a decision resolve to its record', () => {
    const records = readdirSync(new URL('docs/decisions', root)).map((name) => name.slice(0, 4));
    const references = found(/\b(?:decisions?|records?)[ /](\d{4})\b/gi);
    expect(references.length).toBeGreaterThan(10);
    for (const { path, match } of references) expect(records, `${match[0]} in ${path}`).toContain(match[1]);
  });

  it('between documents resolve to a file, and to a heading of it', () => {
    const documents = [...texts].filter(([path]) => path.endsWith('.md'));
    for (const [path, text] of documents) {
      for (const [, target = ''] of text.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)) {
        const url = new URL(target, new URL(path, root));
        const anchor = url.hash.slice(1);
        url.hash = '';
        const there = statSync(url).isDirectory() ? '' : readFileSync(url, 'utf8');
        if (anchor) expect(anchors(there), `${target} in ${path}`).toContain(anchor);
      }
    }
  });
});

it('README and package.json ask for the same version of Node', () => {
  expect(read('README.md')).toContain(`Node ${manifest.engines.node.replace('>=', '≥ ')} `);
});

it('English writes "email"', () => {
  const english = [...texts, ['messages/en.json', read('messages/en.json')] as const];
  // Released migrations are never edited; this file and those of other languages name the other spelling.
  const others = english.filter(
    ([path]) => !/storage\/migrations\/|references\.test\.ts$|typeset\.test\.ts$|docs\/words\.md$/.test(path),
  );
  expect(others.filter(([, text]) => /(?<![\w-])[Ee]-mail/.test(text)).map(([path]) => path)).toEqual([]);
});

it('what the operating page quotes from log, screen and doctor is what they say', () => {
  const code = [...texts].filter(([path]) => path.startsWith('server/') && !path.includes('.test.'));
  const said = [...code.map(([, text]) => text.replace(/^\s*(?:\/?\*|\/\/).*$/gm, '')), read('messages/en.json')].join(
    '\n',
  );
  const page = read('docs/operating.md');
  const cells = page.split('## At 3 a.m.')[1]?.match(/^\| [^|]+/gm) ?? [];
  const quotes = [
    ...cells.flatMap((cell) => [...cell.matchAll(/"([^"]+)"/g)]),
    ...inOneLine(page).matchAll(/(?<!\*)\*([^*]+)\*(?!\*)/g),
  ].flatMap(([, quote = '']) => quote.split('…').map((part) => part.trim()));
  expect(quotes.filter(Boolean).length).toBeGreaterThan(10);
  expect(quotes.filter((quote) => !said.includes(quote))).toEqual([]);
});
