import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Language, languages } from '#contract/languages.ts';
import type { Page } from '#contract/page.ts';
import { type Brand, type BrandTexts, brandFolder } from '../brand/brand.ts';

type PageAssets = {
  script: string;
  laterScript: string;
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
};

/** What the page build provides to the server: a renderer and the addresses of its files. */
export type BuiltPages = {
  assetFolder: URL;
  /** The file that holds the texts of a language, within the asset folder. */
  fileOfTexts: Record<Language, string>;
  ofBrand: (brand: Look) => BrandedPages;
};

type Renderer = {
  styleText: (accentColour: string | null) => string;
  laterStyle: string;
  renderDocument: (page: Page, assets: PageAssets) => string;
};

const buildFolder = new URL('../../build/', import.meta.url);

/** Loads the built pages, the only import of them in the server. Throws if they were not built. */
export async function loadBuiltPages({ basePath }: { basePath: string }): Promise<BuiltPages> {
  const renderer = (await import(new URL('render/render.js', buildFolder).href)) as Renderer;
  const manifest = JSON.parse(readFileSync(new URL('pages/.vite/manifest.json', buildFolder), 'utf8')) as Record<
    string,
    { file: string }
  >;
  const fileOf = (source: string) => {
    const entry = manifest[source];
    if (!entry) throw new Error(`the build has no ${source}`);
    return entry.file;
  };
  const ofLook = (look: Look): BrandedPages => {
    const addressOf = (source: string) => basePath + scriptFolder(look) + basename(fileOf(source));
    const assets: PageAssets = {
      script: addressOf('web/main.tsx'),
      laterScript: addressOf('web/screens/later-screen.tsx'),
      style: renderer.styleText(look.accentColour),
      laterStyle: renderer.laterStyle,
      accentColour: look.accentColour,
      texts: look.texts,
    };
    return {
      styles: [assets.style, assets.laterStyle],
      render: (page) => renderer.renderDocument(page, assets),
    };
  };
  const known = new WeakMap<Look, BrandedPages>();
  return {
    assetFolder: new URL('pages/assets/', buildFolder),
    fileOfTexts: Object.fromEntries(
      languages.map((language) => [language, basename(fileOf(`messages/${language}.json`))]),
    ) as Record<Language, string>,
    ofBrand: (brand) => {
      const pages = known.get(brand) ?? ofLook(brand);
      known.set(brand, pages);
      return pages;
    },
  };
}

/**
 * Where a brand's pages load their scripts. These import each other by relative addresses: in a folder of the brand's own
 * they find its texts, without a byte or a request more.
 */
function scriptFolder({ texts, digest }: Look): string {
  return Object.keys(texts).length === 0 ? '/assets/' : `${brandFolder}/${digest}/`;
}
