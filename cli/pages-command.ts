import { resolve } from 'node:path';
import type { Command } from 'commander';
import { placeholderWarning } from '#server/config/config.ts';
import type { Reading } from '#server/names/read-name.ts';
import { repeatable } from './options.ts';
import { failure, printAnswer } from './print.ts';
import { loadConfig } from './with-database.ts';

type Flags = { provider?: string[]; json?: true };

/** `vestibule pages` */
export function addPagesCommand(program: Command): void {
  program
    .command('pages <folder>')
    .description("write all screens as static files, to be put in front of a backend that isn't this server")
    .addOption(
      repeatable('--provider <origin>', 'an origin that the backend redirects the sign-in forms to', readOrigin),
    )
    .addHelpText('after', '\nHow a web server serves them: deploy/nginx/pages-only.conf and docs/branding.md.')
    .action(runPages);
}

async function runPages(folder: string, { provider = [], json }: Flags) {
  const path = resolve(folder);
  const config = loadConfig();
  const { staticFiles, writeFolder } = await import('#server/pages/static-files.ts');
  const files = await staticFiles(config, provider);
  await writeFolder(path, files).catch(({ code, path, message }: NodeJS.ErrnoException) => {
    throw failure(`${path ?? 'The folder'} cannot be written (${code ?? message}).`);
  });
  const warning = placeholderWarning(config);
  const words = `${files.size} files are in ${path}:

  public/       what a web server serves
  headers.conf  the headers of every page, for nginx${warning ? `\n\nWarning: ${warning}.` : ''}`;
  printAnswer({ value: { folder: path, files: files.size, warnings: warning ? [warning] : [] }, words }, json);
}

function readOrigin(text: string): Reading {
  const url = URL.parse(text);
  if (url?.href === `${url?.origin}/` && /^https:\/\/[a-z\d.-]+(?::\d+)?$/.test(url.origin))
    return { kind: 'ok', value: url.origin };
  return { kind: 'refused', problem: `${JSON.stringify(text)} is not an origin such as https://login.example.com` };
}
