import { readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../', import.meta.url);
const read = (path: string | URL) => readFileSync(new URL(path, root), 'utf8');

const documents = ['', 'docs/', 'docs/decisions/'].flatMap((folder) =>
  readdirSync(new URL(folder, root))
    .filter((name) => name.endsWith('.md'))
    .map((name) => folder + name),
);

/** The anchors of a document's headings, as repository pages make them. */
const anchors = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );

it('links between documents lead to a file, and to a heading of it', () => {
  const broken = documents.flatMap((path) =>
    [...read(path).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].flatMap(([, target = '']) => {
      const url = new URL(target, new URL(path, root));
      const anchor = url.hash.slice(1);
      url.hash = '';
      const file = statSync(url, { throwIfNoEntry: false });
      const leads = file && (anchor === '' || (file.isFile() && anchors(read(url)).includes(anchor)));
      return leads ? [] : [`${path}: ${target}`];
    }),
  );
  expect(broken).toEqual([]);
});
