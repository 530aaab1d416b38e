import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Config } from '../config/config.ts';
import { type BuiltStaticPages, loadStaticPages } from '../http/built-pages.ts';
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
  const logo = config.logoFile && `${config.basePath}/logo${extname(config.logoFile)}`;
  const branded = { ...config, branding: { ...config.branding, logo } };
  const { files: documents, scripts, scriptsOfAll } = renderScreens(branded, built);
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
  if (config.logoFile && logo) files.set(`public${logo}`, await readFile(config.logoFile));
  for (const [path, content] of await assetsOf(config, built)) files.set(path, content);
  const compressed = documents.map(async ({ path, text }) => {
    const [br, gz] = await Promise.all([
      brotli(text, {
        params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: text.length },
      }),
      gzipped(text, { level: constants.Z_BEST_COMPRESSION }),
    ]);
    return [[`public/${path}`, text] as const, [`public/${path}.br`, br] as const, [`public/${path}.gz`, gz] as const];
  });
  for (const [path, content] of (await Promise.all(compressed)).flat()) files.set(path, content);
  return files;
}

/** The scripts, which the build has compressed. */
async function assetsOf(config: Config, { assetFolder }: BuiltStaticPages): Promise<[string, Buffer][]> {
  const names = await readdir(assetFolder);
  return await Promise.all(
    names.map(
      async (name): Promise<[string, Buffer]> => [assetsIn(config) + name, await readFile(new URL(name, assetFolder))],
    ),
  );
}
