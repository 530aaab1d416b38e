import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { AccountPage } from '#contract/account-page.ts';
import { type Language, languages } from '#contract/languages.ts';
import type { Page } from '#contract/page.ts';
import { type Brand, type BrandTexts, brandFolder } from '../brand/brand.ts';

type PageAssets = {
  script: string;
  laterScript: string;
  passkeyScript: string;
  style: string;
  laterStyle: string;
  accentColour: string | null;
  texts: BrandTexts;
};

/** The look of pages: a brand, as far as documents depend on it. */
type Look = Pick<Brand, 'accentColour' | 'texts' | 'digest'>;

/** The pages of one brand. */
export type BrandedPages = {
  /** The exact texts of the style blocks, for the Content-Security-Policy. */
  styles: readonly string[];
  render: (page: Page) => string;
  /** The account page, which loads no script and has styles of its own. */
  account: { styles: readonly string[]; render: (page: Page, account: AccountPage) => string };
};

/** The files that pages load. */
type BuiltFiles = {
  assetFolder: URL;
  /** The file that holds the texts of a language, within the asset folder. */
  fileOfTexts: Record<Language, string>;
  /** The address of the script of ceremonies with passkeys. */
  passkeyScript: string;
};

/** What the page build provides to the server: a renderer and the addresses of its files. */
export type BuiltPages = BuiltFiles & { ofBrand: (brand: Look) => BrandedPages };

/** What it provides for files: each document with the texts of its scripts. */
export type BuiltStaticPages = BuiltFiles & Pick<BrandedPages, 'styles'> & { render: (page: Page) => StaticDocument };

type StaticDocument = { html: string; scripts: string[] };

type Styles = { styleText: (accentColour: string | null) => string; laterStyle: string };
type Renderer = Styles & { renderDocument: (page: Page, assets: PageAssets) => string };
type AccountRenderer = {
  accountStyle: string;
  renderAccount: (page: Page, account: AccountPage, assets: PageAssets) => string;
};
type StaticRenderer = Styles & {
  renderStaticDocument: (page: Page, assets: PageAssets) => StaticDocument;
};

const buildFolder = new URL('../../build/', import.meta.url);

/** Loads the built pages. Throws if they were not built. */
export async function loadBuiltPages({ basePath }: { basePath: string }): Promise<BuiltPages> {
  const renderer = await load<Renderer>('render.js');
  const { accountStyle, renderAccount } = await load<AccountRenderer>('render-account.js');
  const fileOf = filesOfBuild();
  const ofLook = (look: Look): BrandedPages => {
    const assets = assetsOf(look, { basePath, fileOf, renderer });
    return {
      styles: [assets.style, assets.laterStyle],
      render: (page) => renderer.renderDocument(page, assets),
      account: {
        styles: [assets.style, assets.laterStyle, accountStyle],
        render: (page, account) => renderAccount(page, account, assets),
      },
    };
  };
  const known = new WeakMap<Look, BrandedPages>();
  return {
    ...builtFiles(fileOf, basePath),
    ofBrand: (brand) => {
      const pages = known.get(brand) ?? ofLook(brand);
      known.set(brand, pages);
      return pages;
    },
  };
}

/** Loads what writes the pages of a brand to files. Throws if it was not built. */
export async function loadStaticPages({
  basePath,
  brand,
}: {
  basePath: string;
  brand: Look;
}): Promise<BuiltStaticPages> {
  const renderer = await load<StaticRenderer>('render-static.js');
  const fileOf = filesOfBuild();
  const assets = assetsOf(brand, { basePath, fileOf, renderer });
  return {
    ...builtFiles(fileOf, basePath),
    styles: [assets.style, assets.laterStyle],
    render: (page) => renderer.renderStaticDocument(page, assets),
  };
}

/** The only import of the built pages in the server. */
async function load<Module>(file: string): Promise<Module> {
  return (await import(new URL(`render/${file}`, buildFolder).href)) as Module;
}

type FileOf = (source: string) => string;

/** The name of the built file for a source, within the folder of the pages. */
function filesOfBuild(): FileOf {
  const manifest = JSON.parse(readFileSync(new URL('pages/.vite/manifest.json', buildFolder), 'utf8')) as Record<
    string,
    { file: string }
  >;
  return (source) => {
    const entry = manifest[source];
    if (!entry) throw new Error(`the build has no ${source}`);
    return entry.file;
  };
}

function builtFiles(fileOf: FileOf, basePath: string): BuiltFiles {
  return {
    assetFolder: new URL('pages/assets/', buildFolder),
    fileOfTexts: Object.fromEntries(
      languages.map((language) => [language, basename(fileOf(`messages/${language}.json`))]),
    ) as Record<Language, string>,
    passkeyScript: `${basePath}/assets/${basename(fileOf(passkeySource))}`,
  };
}

const passkeySource = 'web/passkeys/ceremony.ts';

function assetsOf(
  look: Look,
  { basePath, fileOf, renderer }: { basePath: string; fileOf: FileOf; renderer: Styles },
): PageAssets {
  const addressOf = (source: string) => basePath + scriptFolder(look) + basename(fileOf(source));
  return {
    script: addressOf('web/main.tsx'),
    laterScript: addressOf('web/screens/later-screen.tsx'),
    passkeyScript: addressOf(passkeySource),
    style: renderer.styleText(look.accentColour),
    laterStyle: renderer.laterStyle,
    accentColour: look.accentColour,
    texts: look.texts,
  };
}

/**
 * Where a brand's pages load their scripts, below the base path. These import each other by relative addresses: in a folder
 * of the brand's own they find its texts, without a byte or a request more.
 */
export function scriptFolder({ texts, digest }: Pick<Look, 'texts' | 'digest'>): string {
  return Object.keys(texts).length === 0 ? '/assets/' : `${brandFolder}/${digest}/`;
}
