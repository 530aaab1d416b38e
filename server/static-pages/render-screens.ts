import { type Language, languages } from '#contract/languages.ts';
import type { Page } from '#contract/page.ts';
import type { Config } from '../config/config.ts';
import type { BuiltStaticPages } from '../http/built-pages.ts';
import { type StaticScreen, staticScreens } from './static-screens.ts';

/** A document by its path below the folder that a web server serves. */
export type StaticFile = { path: string; text: string };

/** The screens as files, and the scripts inside the documents of one language and of all. */
export type RenderedScreens = { files: StaticFile[]; scripts: string[]; scriptsOfAll: string[] };

/** The file that shows a screen, in one language or in all of them. */
export function fileOf({ basePath }: Pick<Config, 'basePath'>, name: string, language: Language | null): string {
  return `${basePath.slice(1)}/${name}${language === null ? '' : `.${language}`}.html`;
}

/** Each screen in each language, for servers that know the visitor's, and in all of them at once, for those that don't. */
export function renderScreens(config: Config, built: BuiltStaticPages): RenderedScreens {
  const scripts = new Set<string>();
  const scriptsOfAll = new Set<string>();
  const files = staticScreens.flatMap((screen) => {
    const pages = languages.map((language) => pageOf(config, screen, language));
    const [first, ...others] = pages as [Page, ...Page[]];
    const all = built.render(first, others);
    for (const script of all.scripts) scriptsOfAll.add(script);
    const single = pages.map((page) => {
      const document = built.render(page, []);
      for (const script of document.scripts) scripts.add(script);
      return { path: fileOf(config, screen.name, page.language), text: document.html };
    });
    return [{ path: fileOf(config, screen.name, null), text: all.html }, ...single];
  });
  return { files, scripts: [...scripts], scriptsOfAll: [...scriptsOfAll] };
}

/** What a foreign backend's pages know: nothing of the visitor, and their origin only once they are shown. */
function pageOf(config: Config, { path, query, problem }: StaticScreen, language: Language): Page {
  return {
    language,
    // What is not an address is not found.
    url: path === '' ? 'none' : config.basePath + path + (query && `?${query}`),
    branding: config.brand.branding,
    rules: { ...config.destinationRules, origin: '' },
    passwordPolicy: config.passwordPolicy,
    typedUsername: '',
    reference: null,
    isStatic: true,
    serverPage: problem ? { name: 'problem', status: problem, retryAfterSeconds: null } : null,
  };
}
