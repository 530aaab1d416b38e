import { features } from 'web-features';

/** The oldest browsers that get the full script and style (docs/browsers.md); vite.config.ts builds for the same. */
const targets: Record<string, number> = {
  chrome: 105,
  chrome_android: 105,
  edge: 105,
  firefox: 115,
  firefox_android: 115,
  safari: 16,
  safari_ios: 16,
};

type Support = Record<string, string>;

/** Web features by name: one name may mean several. */
const known = { script: new Map<string, Support[]>(), style: new Map<string, Support[]>() };

for (const feature of Object.values(features)) {
  if (feature.kind !== 'feature') continue;
  const keys = (feature.status.by_compat_key ?? {}) as Record<string, { support: Support }>;
  for (const [key, { support }] of Object.entries(keys)) {
    const [room, second = '', ...rest] = key.split('.');
    if (room === 'api') remember('script', [second, ...rest], support);
    else if (room === 'javascript' && second === 'builtins')
      remember('script', rest[0] === 'Intl' && rest.length > 1 ? rest.slice(1) : rest, support);
    else if (room === 'css' && second === 'properties' && rest.length === 1) note('style', `${rest[0]}:`, support);
    else if (room === 'css' && second === 'selectors' && rest.length === 1) note('style', `:${rest[0]}`, support);
    else if (room === 'css' && second === 'types') note('style', `${rest.at(-1)}()`, support);
    else if (room === 'css' && second === 'at-rules' && rest[0] === 'media') note('style', `(${rest.at(-1)}`, support);
    if (key.startsWith('css.types.length.')) note('style', `1${rest.at(-1)}`, support);
    if (/viewport_percentage_units_(dynamic|small|large)$/.test(key))
      for (const unit of ['vh', 'vw', 'vi', 'vb', 'vmin', 'vmax'])
        note('style', `1${rest.at(-1)?.split('_').at(-1)?.[0]}${unit}`, support);
    if (/color\.\w+\.relative_syntax$/.test(key)) note('style', `${rest[1]}(from`, support);
  }
}

function remember(room: keyof typeof known, path: string[], support: Support): void {
  const [owner = '', member, ...deeper] = path;
  if (deeper.length > 0) return;
  if (!member) note(room, owner, support);
  if (!member || member === owner) return;
  note(room, `${owner}.${member.replace(/_static$/, '')}`, support);
  if (!member.endsWith('_static')) note(room, `.${member}`, support);
}

function note(room: keyof typeof known, name: string, support: Support): void {
  known[room].set(name, [...(known[room].get(name) ?? []), support]);
}

/** Whether some target lacks every feature that a name may mean. Unknown names are our own. */
function isTooNew(room: keyof typeof known, name: string): boolean {
  const meanings = known[room].get(name);
  if (!meanings) return false;
  return !meanings.some((support) =>
    Object.entries(targets).every(([browser, version]) => Number.parseFloat(support[browser] ?? 'none') <= version),
  );
}

/** What a script uses that some target lacks. */
export function tooNewInScript(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, '');
  const ofOwners = namesIn(code, [[/\b([A-Z]\w*\.\w+)/g, '']]).filter((name) => known.script.has(name));
  const others = namesIn(
    code.replaceAll(new RegExp(ofOwners.map((name) => `\\b${name}\\b`).join('|') || '$^', 'g'), ''),
    [
      [/(?<=[\w)\]?])(\.\w+)/g, ''],
      [/(?<![.\w])(\w+)\(/g, ''],
      [/\bnew (\w+)/g, ''],
    ],
  );
  return [...ofOwners, ...others].filter((name) => isTooNew('script', name));
}

/** What a style uses that some target lacks, except what stands under `@supports` with its fallback. */
export function tooNewInStyle(source: string): string[] {
  const style = withoutSupports(source.replace(/\/\*[\s\S]*?\*\//g, ''));
  return namesIn(style, [
    [/(?<=[{;]\s*)([a-z][a-z-]*:)/g, ''],
    [/(:[a-z][a-z-]+)(?=[^;{}]*\{)/g, ''],
    [/([a-z][a-z-]*\()/g, ')'],
    [/([a-z]+\(from)\b/g, ''],
    [/(?<![\w-])[\d.]+([a-z]+)\b/g, ''],
    [/(\([a-z-]+)(?=:| [<>])/g, ''],
  ])
    .map((name) => (/^[a-z]+$/.test(name) ? `1${name}` : name))
    .filter((name) => isTooNew('style', name));
}

function namesIn(text: string, patterns: [RegExp, string][]): string[] {
  return [...new Set(patterns.flatMap(([pattern, end]) => [...text.matchAll(pattern)].map((match) => match[1] + end)))];
}

function withoutSupports(style: string): string {
  const start = style.indexOf('@supports');
  if (start < 0) return style;
  let end = style.indexOf('{', start) + 1;
  for (let depth = 1; depth > 0 && end < style.length; end += 1)
    depth += style[end] === '{' ? 1 : style[end] === '}' ? -1 : 0;
  return style.slice(0, start) + withoutSupports(style.slice(end));
}
