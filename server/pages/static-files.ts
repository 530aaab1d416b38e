import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Language, languages } from '#contract/languages.ts';
import type { Page, ProblemStatus } from '#contract/page.ts';
import { changeFailedReasons, loginFailTypes } from '#contract/reasons.ts';
import { queryNames, screenOfPath, screenPaths } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import { type BuiltStaticPages, loadStaticPages } from '../http/built-pages.ts';
import { barePage } from '../http/pages.ts';
import { splitUrl } from '../http/request-url.ts';
import { securityHeaders } from '../http/security-headers.ts';

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
  const url = address === noAddress ? address : config.basePath + address;
  const screen = problem
    ? ({ name: 'problem', status: problem, retryAfterSeconds: null } as const)
    : screenOfPath(splitUrl(address).path);
  const page = barePage(config, { language, url, screen });
  return { ...page, rules: { ...page.rules, origin: '' }, isStatic: true };
}

async function assetsOf({ basePath, brand }: Config, { assetFolder }: BuiltStaticPages): Promise<Files> {
  const files: Files = new Map();
  for (const name of await readdir(assetFolder))
    files.set(`public${basePath}/assets/${name}`, await readFile(new URL(name, assetFolder)));
  for (const { address, bytes } of brand.logos) files.set(`public${address}`, bytes);
  return files;
}

/** A screen as a file: `name` is the file's, `address` what it shows, with the query that has a file of its own. */
type StaticScreen = { name: string; address: string; problem?: ProblemStatus };

/** What a query changes so much that it has a file of its own, for visitors without JavaScript. */
const byEmail = { name: 'email', query: `${queryNames.codeSentViaEmail}=true` };
const byReason = (reason: number) => ({ name: String(reason), query: `${queryNames.reason}=${reason}` });
const variants: Record<string, { name: string; query: string }[]> = {
  twoFactor: [byEmail],
  twoFactorRegistration: [byEmail],
  forgottenChange: [changeFailedReasons.tooWeak, changeFailedReasons.userNotFound].map(byReason),
  forgottenChangeFailedInfo: Object.values(changeFailedReasons).map(byReason),
};

/** What is not an address is not found. */
const noAddress = 'none';

/** Every screen of specification §2, and what a web server shows in place of a backend that does not answer. */
const staticScreens: readonly StaticScreen[] = [
  ...Object.entries(screenPaths).flatMap(([name, path]) => [
    { name, address: path },
    ...(variants[name] ?? []).map((variant) => ({
      name: `${name}-${variant.name}`,
      address: `${path}?${variant.query}`,
    })),
  ]),
  ...loginFailTypes.map((type) => ({ name: `loginfail-${type}`, address: `/loginfail/${type}` })),
  { name: 'not-found', address: noAddress },
  ...([502, 504] as const).map((problem) => ({ name: `problem-${problem}`, address: noAddress, problem })),
];

/** Files by their paths below a folder. */
export type Files = Map<string, string | Buffer>;

/**
 * Writes the files in their order, each at once, since a web server may be reading. Others stay: documents that are open in
 * a browser still ask for earlier scripts.
 */
export async function writeFolder(folder: string, files: Files): Promise<void> {
  for (const [path, content] of files) {
    const place = join(folder, path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(`${place}.new`, content);
    await rename(`${place}.new`, place);
  }
}
