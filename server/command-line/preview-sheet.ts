import type { Brand } from '../brand/brand.ts';
import { mediaTypeOf } from '../brand/logo-on-pages.ts';
import type { Preview } from './brand-previews.ts';

/** A picture of many pages: files for a browser, the first of which shows the others, and the size of the whole. */
export type Sheet = { files: Map<string, string>; width: number; height: number };

type View = { width: number; height: number; scale: number };

const views: Record<Preview['kind'], View[]> = {
  screen: [
    { width: 1180, height: 860, scale: 0.28 },
    { width: 390, height: 803, scale: 0.3 },
  ],
  mail: [{ width: 640, height: 820, scale: 0.36 }],
};
const perRow = { screen: 4, mail: 7 };
const gap = 16;
const captionHeight = 22;
const headingHeight = 44;
const margin = 32;

const shownWidth = ({ width, scale }: View) => Math.round(width * scale);
const shownHeight = ({ height, scale }: View) => Math.round(height * scale);

/** Sets out all previews by day, then by night. */
export function previewSheet(previews: readonly Preview[], brand: Brand, title: string): Sheet {
  const files = new Map<string, string>();
  let height = margin;
  let width = 0;
  const parts = (['light', 'dark'] as const).flatMap((theme) =>
    (['screen', 'mail'] as const).map((kind) => {
      const tiles = previews
        .filter((preview) => preview.kind === kind)
        .map(({ caption, html }, index) => {
          const name = `${theme}-${kind}-${index}.html`;
          files.set(name, still(html, theme, brand));
          return tile(name, caption, views[kind]);
        });
      const rows = Math.ceil(tiles.length / perRow[kind]);
      const tileWidth = views[kind].reduce((sum, view) => sum + shownWidth(view), (gap / 2) * (views[kind].length - 1));
      width = Math.max(width, perRow[kind] * (tileWidth + gap) + 2 * margin);
      height += headingHeight + rows * (captionHeight + Math.max(...views[kind].map(shownHeight)) + gap);
      const heading = `${title}: ${kind === 'screen' ? 'screens' : 'emails'}, ${theme}`;
      return `<h2>${escaped(heading)}</h2><div class="row">${tiles.join('')}</div>`;
    }),
  );
  files.set(sheetName, `<!doctype html><meta charset="utf-8"><style>${style}</style>${parts.join('')}`);
  return { files, width, height: height + margin };
}

export const sheetName = 'sheet.html';

function tile(name: string, caption: string, sizes: readonly View[]): string {
  const frames = sizes.map((view) => {
    const outer = `width:${shownWidth(view)}px;height:${shownHeight(view)}px`;
    const inner = `width:${view.width}px;height:${view.height}px;transform:scale(${view.scale})`;
    return `<div class="frame" style="${outer}"><iframe src="${name}" style="${inner}" scrolling="no"></iframe></div>`;
  });
  return `<figure><figcaption>${escaped(caption)}</figcaption><div class="views">${frames.join('')}</div></figure>`;
}

/** A document without scripts, in one theme, with everything that it loads inside. */
function still(html: string, theme: 'light' | 'dark', brand: Brand): string {
  let text = html
    .replace(/<script\b[^>]*>.*?<\/script>|<meta http-equiv="refresh"[^>]*>/gs, '')
    // Pictures are there for both, with a script and without; the rest would not be seen with one.
    .replace(/<noscript>(.*?)<\/noscript>/gs, (_whole, inside: string) => (inside.includes('<img') ? inside : ''))
    .replace(/\(prefers-color-scheme:\s*(\w+)\)/g, (_whole, asked) =>
      asked === theme ? '(min-width:0)' : '(max-width:0)',
    )
    .replaceAll('light dark', theme);
  for (const [name, logo] of brand.files) {
    const address = new RegExp(`"[^"]*/${name.replace('.', '\\.')}"`, 'g');
    text = text.replace(address, `"data:${mediaTypeOf(logo)};base64,${logo.bytes.toString('base64')}"`);
  }
  return text;
}

const style = `body{margin:${margin}px;background:#8a8a8a;font:13px/${captionHeight}px sans-serif;color:#fff}
h2{height:${headingHeight}px;margin:0;font-size:20px;line-height:${headingHeight}px}
.row{display:flex;flex-wrap:wrap}
figure{margin:0 ${gap}px ${gap}px 0}
figcaption{height:${captionHeight}px;overflow:hidden;white-space:nowrap;width:0;min-width:100%}
.views{display:flex;gap:${gap / 2}px}
.frame{overflow:hidden;background:#fff}
iframe{border:0;transform-origin:0 0}`;

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
