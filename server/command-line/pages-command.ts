import { resolve } from 'node:path';
import type { Command } from 'commander';
import { buildStalePages } from '../build-pages.ts';
import { placeholderWarning } from '../config/config.ts';
import type { Free, Written } from '../static-pages/write-folder.ts';
import { failure } from './failure.ts';
import { loadConfig } from './load-config.ts';
import { repeatable } from './options.ts';
import { printJson, printLine } from './print.ts';

type Flags = { provider?: string[]; force?: true; json?: true };

/** `vestibule pages` */
export function addPagesCommand(program: Command): void {
  program
    .command('pages <folder>')
    .description("write all screens as static files, to be put in front of a backend that isn't this server")
    .addOption(repeatable('--provider <origin>', 'an origin that the backend redirects the sign-in forms to'))
    .option('--force', 'write into a folder that holds other files; those stay, unless one of ours has their name')
    .option('--json', 'print what was written as JSON')
    .addHelpText(
      'after',
      '\nThe folder gets public/, the files for a web server to serve, and what nginx, Caddy and others need to serve them.' +
        '\nA folder that this command wrote is replaced. See docs/pages-only.md.',
    )
    .action(runPages);
}

async function runPages(folder: string, { provider = [], force, json }: Flags) {
  const origins = provider.map(readOrigin);
  const path = resolve(folder);
  // It stands in nginx's and Caddy's files.
  if (!/^[\w/.@+-]+$/.test(path)) throw failure(`The path may have letters, digits and /._@+- only: ${path}`);
  const config = loadConfig();
  const { lookAtFolder, writeFolder } = await import('../static-pages/write-folder.ts');
  const isForced = force === true;
  mustBe('free', path, await lookAtFolder(path, isForced));
  await buildStalePages();
  const { staticFiles, assetsIn } = await import('../static-pages/static-files.ts');
  const files = await staticFiles(config, path, origins);
  mustBe('written', path, await writeFolder(path, files, assetsIn(config), isForced));
  const warning = placeholderWarning(config);
  if (json) return printJson({ folder: path, files: files.size, warnings: warning ? [warning] : [] });
  printLine(`${files.size} files are in ${path}:\n`);
  printLine('  public/      what a web server serves');
  printLine('  nginx.conf   for nginx; includes nginx-headers.conf');
  printLine('  Caddyfile    for Caddy');
  printLine('  routes.json  addresses, files and headers, for any other server');
  printLine('\nWhether a backend keeps its part: vestibule conformance <url>');
  if (warning) printLine(`\nWarning: ${warning}.`);
}

function mustBe(kind: 'free' | 'written', path: string, outcome: Free | Written): void {
  if (outcome.kind === 'foreign') throw failure(refusal(path, outcome.paths));
  if (outcome.kind === 'failed') throw failure(`${path} cannot be written (${outcome.code}); nothing was changed.`);
  if (outcome.kind !== kind) throw new Error(`${path} is ${outcome.kind}`);
}

function refusal(path: string, foreign: readonly string[]): string {
  const [first, ...others] = foreign;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  return `${path} holds files that are not ours or were changed: ${first}${more}. --force leaves them there.`;
}

function readOrigin(text: string): string {
  const url = URL.parse(text);
  if (!url || url.href !== `${url.origin}/` || !/^https:\/\/[a-z\d.-]+(?::\d+)?$/.test(url.origin))
    throw failure(`--provider: ${JSON.stringify(text)} is not an origin such as https://login.example.com`);
  return url.origin;
}
