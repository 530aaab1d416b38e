import { resolve } from 'node:path';
import type { Command } from 'commander';
import { buildStalePages } from '../build-pages.ts';
import { placeholderWarning } from '../config/config.ts';
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
  await buildStalePages();
  const [{ staticFiles, assetsIn }, { writeFolder }] = await Promise.all([
    import('../static-pages/static-files.ts'),
    import('../static-pages/write-folder.ts'),
  ]);
  const files = await staticFiles(config, path, origins);
  const written = await writeFolder(path, files, assetsIn(config), force === true);
  if (written.kind === 'foreign') throw failure(refusal(path, written.paths));
  if (written.kind === 'failed') throw failure(`${path} cannot be written (${written.code}); nothing was changed.`);
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

function refusal(path: string, foreign: readonly string[]): string {
  const [first, ...others] = foreign;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  return `${path} holds files that are not ours or were changed: ${first}${more}. --force leaves them there.`;
}

function readOrigin(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' || `${url.origin}${url.pathname}` !== url.href)
    throw failure(`--provider: ${JSON.stringify(text)} is not an origin such as https://login.example.com`);
  return url.origin;
}
