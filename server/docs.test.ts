import { globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import en from '#messages/en.json' with { type: 'json' };
import schema from '../vestibule.config.schema.json' with { type: 'json' };
import { auditEvents } from './audit/audit-events.ts';

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

type Schema = { type?: string; properties?: Record<string, Schema>; items?: Schema; description?: string };

/** The paths of the settings that have a description. */
const settingsOf = ({ properties = {}, items }: Schema, path = ''): string[] => [
  ...Object.entries(properties).flatMap(([name, schema]) => [
    ...(schema.description ? [path + name] : []),
    ...settingsOf(schema, `${path}${name}.`),
  ]),
  ...(items ? settingsOf(items, `${path.slice(0, -1)}[].`) : []),
];

const variables = new Set(
  [...read('server/config/config.ts').matchAll(/\benv\.([A-Z_]+)/g)].map(([, name]) => name ?? ''),
);

const reasons = Object.keys(en).flatMap((key) => /^reason-(.*)/.exec(key)?.[1] ?? []);
const isOfProvider = (reason: string) => reason.startsWith('sso-');

it.each([
  ['configuration', 'setting', settingsOf(schema)],
  ['configuration', 'variable', [...variables]],
  ['events', 'event', [...auditEvents.keys()]],
  ['single-sign-on', 'reason', reasons.filter(isOfProvider).map((name) => name.slice('sso-'.length))],
])('docs/%s.md explains every %s', (name, _, names) => {
  const page = read(`docs/${name}.md`);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((one) => !page.includes(`\`${one}\``))).toEqual([]);
});

it('docs/events.md or docs/account.md explains every other reason', () => {
  const page = read('docs/events.md') + read('docs/account.md');
  const others = reasons.filter((reason) => !isOfProvider(reason));
  expect(others.filter((one) => !page.includes(`\`${one}\``))).toEqual([]);
});

it('no name in the code is a word that the glossary drops', () => {
  const [, dropped = ''] = /^Not used, .*: (.*)\.$/m.exec(read('docs/glossary.md')) ?? [];
  expect(dropped).toContain('turn');
  const words = new RegExp(`^(?:${dropped.replaceAll(', ', '|')})(?:s|es|ed)?$`, 'i');
  const sources = globSync('{server,cli,web,contract}/**/*.{ts,tsx}', { cwd: fileURLToPath(root) });
  const found = sources
    .filter((path) => !/\.test\.tsx?$/.test(path))
    .flatMap((path) => namesIn(read(path)).filter((name) => partsOf(name).some((part) => words.test(part))));
  // Names of the platform.
  expect([...new Set(found)].filter((name) => !['nextSibling', 'pressed'].includes(name))).toEqual([]);
});

/** The names in a source, without its comments and texts. */
function namesIn(source: string): string[] {
  const code = source
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(?<!:)\/\/.*$/gm, '')
    .replace(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\.)*`/g, '');
  return code.match(/[A-Za-z_]\w*/g) ?? [];
}

function partsOf(name: string): string[] {
  return name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
}
