import { readFileSync } from 'node:fs';
import type { Page } from '#contract/page.ts';

type PageAssets = { script: string; laterScript: string; style: string; laterStyle: string };

/** What the page build provides to the server: a renderer and the addresses of its files. */
export type BuiltPages = {
  assetFolder: URL;
  /** The exact texts of the style blocks, for the Content-Security-Policy. */
  styles: readonly string[];
  render: (page: Page) => string;
};

type Renderer = {
  styleText: (accentColour: string | null) => string;
  laterStyle: string;
  renderDocument: (page: Page, assets: PageAssets) => string;
};

const buildFolder = new URL('../../build/', import.meta.url);

/** Loads the built pages, the only import of them in the server. Throws if they were not built. */
export async function loadBuiltPages({
  basePath,
  accentColour,
}: {
  basePath: string;
  accentColour: string | null;
}): Promise<BuiltPages> {
  const renderer = (await import(new URL('render/render.js', buildFolder).href)) as Renderer;
  const manifest = JSON.parse(readFileSync(new URL('pages/.vite/manifest.json', buildFolder), 'utf8')) as Record<
    string,
    { file: string }
  >;
  const addressOf = (source: string) => {
    const entry = manifest[source];
    if (!entry) throw new Error(`the build has no ${source}`);
    return `${basePath}/${entry.file}`;
  };
  const assets: PageAssets = {
    script: addressOf('web/main.tsx'),
    laterScript: addressOf('web/screens/later-screen.tsx'),
    style: renderer.styleText(accentColour),
    laterStyle: renderer.laterStyle,
  };
  return {
    assetFolder: new URL('pages/assets/', buildFolder),
    styles: [assets.style, assets.laterStyle],
    render: (page) => renderer.renderDocument(page, assets),
  };
}
