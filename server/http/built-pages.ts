import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { AccountPage } from '#contract/account.ts';
import type { DeskPage } from '#contract/desk.ts';
import { languages } from '#contract/languages.ts';
import type { Page } from '#contract/page.ts';
import type { Brand } from '../config/brand.ts';
import { brandStyle } from '../config/brand-colours.ts';
import { houseBrand } from '../config/colour.ts';
import { root } from '../config/root.ts';

type Look = { basePath: string; brand: Pick<Brand, 'accentColour' | 'texts'> };

type BuiltFiles = {
  assetFolder: URL;
  passkeyScript: string;
  /** The exact texts of the style blocks, for the Content-Security-Policy. */
  styles: readonly string[];
};

/** What the page build provides to the server: renderers and the addresses of its files. */
export type BuiltPages = BuiltFiles & {
  render: (page: Page) => string;
  /** The account page and the desk, which have styles of their own. */
  behind: {
    styles: readonly string[];
    renderAccount: (page: Page, account: AccountPage) => string;
    renderDesk: (page: Page, desk: DeskPage) => string;
  };
};

/** What it provides for files: each document with the texts of its scripts. */
export type BuiltStaticPages = BuiltFiles & { render: (page: Page) => StaticDocument };

type StaticDocument = { html: string; scripts: string[] };

type PageAssets = ReturnType<typeof assetsOf>;
type Styles = { styleText: (colours: string) => string };
type Renderer = Styles & { renderDocument: (page: Page, assets: PageAssets) => string };
type BehindRenderer = {
  styles: readonly string[];
  renderAccount: (page: Page, account: AccountPage, assets: PageAssets) => string;
  renderDesk: (page: Page, desk: DeskPage, assets: PageAssets) => string;
};
type StaticRenderer = Styles & {
  renderStaticDocument: (page: Page, assets: PageAssets) => StaticDocument;
};

const buildFolder = new URL('dist/', root);

/** Loads the built pages. Throws if they were not built. */
export async function loadBuiltPages(look: Look): Promise<BuiltPages> {
  const renderer = await load<Renderer>('render.js');
  const behind = await load<BehindRenderer>('render-behind.js');
  const assets = assetsOf(look, renderer);
  const files = builtFiles(assets);
  return {
    ...files,
    render: (page) => renderer.renderDocument(page, assets),
    behind: {
      styles: [...files.styles, ...behind.styles],
      renderAccount: (page, account) => behind.renderAccount(page, account, assets),
      renderDesk: (page, desk) => behind.renderDesk(page, desk, assets),
    },
  };
}

/** Loads what writes the pages to files. Throws if it was not built. */
export async function loadStaticPages(look: Look): Promise<BuiltStaticPages> {
  const renderer = await load<StaticRenderer>('render-static.js');
  const assets = assetsOf(look, renderer);
  return { ...builtFiles(assets), render: (page) => renderer.renderStaticDocument(page, assets) };
}

async function load<Module>(file: string): Promise<Module> {
  return (await import(new URL(`render/${file}`, buildFolder).href)) as Module;
}

function builtFiles({ style, passkeyScript }: PageAssets): BuiltFiles {
  return { assetFolder: new URL('pages/assets/', buildFolder), passkeyScript, styles: [style] };
}

function assetsOf({ basePath, brand }: Look, renderer: Styles) {
  const manifest = JSON.parse(readFileSync(new URL('pages/.vite/manifest.json', buildFolder), 'utf8')) as Record<
    string,
    { file: string }
  >;
  const accentColour = brand.accentColour ?? houseBrand;
  const addressOf = (source: string) => {
    const entry = manifest[source];
    if (!entry) throw new Error(`the build has no ${source}`);
    return `${basePath}/assets/${basename(entry.file)}`;
  };
  return {
    script: addressOf('web/main.tsx'),
    laterScript: addressOf('web/screens/later-screen.tsx'),
    passkeyScript: addressOf('web/passkeys/ceremony.ts'),
    deskScript: addressOf('web/desk/search-as-typed.ts'),
    messages: Object.fromEntries(languages.map((tag) => [tag, addressOf(`messages/${tag}.json`)])),
    style: renderer.styleText(brandStyle(accentColour)),
    accentColour,
    texts: brand.texts,
  };
}
