import { readdir, readFile } from 'node:fs/promises';
import { type Language, languages } from '#contract/languages.ts';
import type { Page } from '#contract/page.ts';
import type { Config } from '../config/config.ts';
import { type BuiltStaticPages, loadStaticPages } from '../http/built-pages.ts';
import { securityHeaders } from '../http/security-headers.ts';
import { noAddress, type StaticScreen, staticScreens } from './static-screens.ts';
import type { Files } from './write-folder.ts';

/**
 * Every screen in every language as `public/portal/login.de.html`, what these load, and their headers as nginx reads them.
 * `formOrigins` are those that an answer to a form may lead to.
 */
export async function staticFiles(config: Config, formOrigins: readonly string[]): Promise<Files> {
  const built = await loadStaticPages(config);
  const scripts = new Set<string>();
  // What a document asks for is there before the document.
  const files: Files = await assetsOf(config, built);
  for (const screen of staticScreens)
    for (const language of languages) {
      const document = built.render(pageOf(config, screen, language));
      for (const script of document.scripts) scripts.add(script);
      files.set(`public${config.basePath}/${screen.name}.${language}.html`, document.html);
    }
  const headers = {
    ...securityHeaders(config, built.styles, { scripts: [...scripts], formOrigins }),
    // Nothing in these pages is anybody's own.
    'cache-control': 'no-cache',
    vary: 'Accept-Language',
  };
  const lines = Object.entries(headers).map(([name, value]) => `add_header ${name} "${value}" always;\n`);
  return files.set('headers.conf', lines.join(''));
}

/** What a foreign backend's pages know: nothing of the visitor, and their origin only once they are shown. */
function pageOf(config: Config, { address, problem }: StaticScreen, language: Language): Page {
  return {
    language,
    url: address === noAddress ? address : config.basePath + address,
    branding: config.brand.branding,
    rules: { ...config.destinationRules, origin: '' },
    passwordPolicy: config.passwordPolicy,
    typedUsername: '',
    reference: null,
    isStatic: true,
    serverPage: problem ? { name: 'problem', status: problem, retryAfterSeconds: null } : null,
  };
}

/** The scripts as the build compressed them, and the logos. */
async function assetsOf({ basePath, brand }: Config, { assetFolder }: BuiltStaticPages): Promise<Files> {
  const files: Files = new Map();
  for (const name of await readdir(assetFolder))
    files.set(`public${basePath}/assets/${name}`, await readFile(new URL(name, assetFolder)));
  for (const { address, bytes } of brand.logos) files.set(`public${address}`, bytes);
  return files;
}
