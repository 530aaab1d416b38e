import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { languages } from '#contract/languages.ts';
import { brandFolder } from '../brand/brand.ts';
import { textModule } from '../brand/text-module.ts';
import type { Config } from '../config/config.ts';
import { type BuiltStaticPages, loadStaticPages, scriptFolder } from '../http/built-pages.ts';
import { securityHeaders } from '../http/security-headers.ts';
import { caddyFile } from './caddy-file.ts';
import { nginxHeaders, nginxSite } from './nginx-files.ts';
import { renderScreens } from './render-screens.ts';
import { routesFile } from './routes-file.ts';
import type { Files } from './write-folder.ts';

const brotli = promisify(brotliCompress);
/** Half the time of the highest, and 3 % longer. */
const quality = 10;
const gzipped = promisify(gzip);

/** Where in the folder the scripts are: earlier ones are kept. */
export const assetsIn = ({ basePath }: Config) => `public${basePath}/assets/`;

/**
 * Every file of the pages by its path: the documents, scripts and logo below `public`, each also compressed, and the
 * files for web servers. `folder` is where they will be; `formOrigins` are those that an answer to a form may lead to.
 */
export async function staticFiles(config: Config, folder: string, formOrigins: readonly string[]): Promise<Files> {
  const built = await loadStaticPages(config);
  const { files: documents, scripts, scriptsOfAll } = renderScreens(config, built);
  const headersWith = (texts: readonly string[]) => ({
    ...securityHeaders(config, built.styles, { scripts: texts, formOrigins }),
    // Nothing in these pages is anybody's own.
    'cache-control': 'no-cache',
  });
  const inLanguages = { ...headersWith(scripts), vary: 'Accept-Encoding, Accept-Language' };
  const site = { basePath: config.basePath, folder, headers: inLanguages };
  const files = new Map<string, string | Buffer>([
    ['nginx.conf', nginxSite(site)],
    ['nginx-headers.conf', nginxHeaders(site)],
    ['Caddyfile', caddyFile(site)],
    ['routes.json', routesFile({ ...site, headers: headersWith(scriptsOfAll) })],
  ]);
  for (const [name, logo] of config.brand.files)
    files.set(`public${config.basePath}${brandFolder}/${name}`, logo.bytes);
  for (const [path, content] of await assetsOf(config, built)) files.set(path, content);
  const compressed = documents.map(({ path, text }) => withCompressed(`public/${path}`, text));
  for (const [path, content] of (await Promise.all(compressed)).flat()) files.set(path, content);
  return files;
}

/** The scripts, which the build has compressed, but for those with texts of the brand. */
async function assetsOf({ basePath, brand }: Config, built: BuiltStaticPages): Promise<[string, string | Buffer][]> {
  const folder = `public${basePath}${scriptFolder(brand)}`;
  const own = languages.filter((language) => brand.texts[language]);
  const isReplaced = (name: string) => own.some((language) => name.startsWith(built.fileOfTexts[language]));
  const names = (await readdir(built.assetFolder)).filter((name) => !isReplaced(name));
  const kept = names.map(
    async (name): Promise<[string, Buffer]> => [folder + name, await readFile(new URL(name, built.assetFolder))],
  );
  const texts = own.map((language) =>
    withCompressed(folder + built.fileOfTexts[language], textModule(language, brand.texts)),
  );
  return [...(await Promise.all(kept)), ...(await Promise.all(texts)).flat()];
}

/** A text by its path, and in each encoding. */
async function withCompressed(path: string, text: string): Promise<[string, string | Buffer][]> {
  const [br, gz] = await Promise.all([
    brotli(text, {
      params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: text.length },
    }),
    gzipped(text, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  return [
    [path, text],
    [`${path}.br`, br],
    [`${path}.gz`, gz],
  ];
}
