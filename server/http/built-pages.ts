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

/** What it provides for files: each document with the texts of its scripts. */
export type BuiltStaticPages = Omit<BuiltPages, 'render'> & {
  render: (page: Page, others: readonly Page[]) => StaticDocument;
};

type StaticDocument = { html: string; scripts: string[] };

type Styles = { styleText: (accentColour: string | null) => string; laterStyle: string };
type Renderer = Styles & { renderDocument: (page: Page, assets: PageAssets) => string };
type StaticRenderer = Styles & {
  renderStaticDocument: (page: Page, others: readonly Page[], assets: PageAssets) => StaticDocument;
};
type Look = { basePath: string; accentColour: string | null };

const buildFolder = new URL('../../build/', import.meta.url);

/** Loads the built pages. Throws if they were not built. */
export async function loadBuiltPages(look: Look): Promise<BuiltPages> {
  const renderer = await load<Renderer>('render.js');
  const { assets, ...rest } = lookOf(look, renderer);
  return { ...rest, render: (page) => renderer.renderDocument(page, assets) };
}

/** Loads what writes pages to files. Throws if it was not built. */
export async function loadStaticPages(look: Look): Promise<BuiltStaticPages> {
  const renderer = await load<StaticRenderer>('render-static.js');
  const { assets, ...rest } = lookOf(look, renderer);
  return { ...rest, render: (page, others) => renderer.renderStaticDocument(page, others, assets) };
}

/** The only import of the built pages in the server. */
async function load<Module>(file: string): Promise<Module> {
  return (await import(new URL(`render/${file}`, buildFolder).href)) as Module;
}

function lookOf({ basePath, accentColour }: Look, { styleText, laterStyle }: Styles) {
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
    style: styleText(accentColour),
    laterStyle,
  };
  return {
    assets,
    assetFolder: new URL('pages/assets/', buildFolder),
    styles: [assets.style, assets.laterStyle],
  };
}
