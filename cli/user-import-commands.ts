import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import type { ImportOptions } from '#server/accounts/import-users.ts';
import type { ImportFile } from '#server/accounts/read-records.ts';
import type { StoredBatch } from '#server/accounts/store-batch.ts';
import { readText, readTextFile } from '#server/config/read-text-file.ts';
import { readShortName } from '#server/names/read-name.ts';
import { repeatable } from './options.ts';
import { type Answer, exitCodes, failure, printWarning } from './print.ts';
import { type Keyed, onKeys, record } from './with-database.ts';

type ImportFlags = {
  from: ImportOptions['from'];
  format?: 'jsonl' | 'csv';
  customer?: string[];
  dryRun?: boolean;
  refused?: string;
  acceptUnverified?: true;
};

/** Refused lines that are shown. */
const mostShown = 20;

/** `vestibule user import` and `vestibule user export` */
export function addUserImportCommands(user: Command): void {
  user
    .command('import')
    .argument('<file>', 'an export in JSON Lines or CSV; - reads standard input')
    .description('add the users of another system, with password hashes; run it again to continue')
    .addOption(
      new Option('--from <source>', 'what wrote the file').choices(['vestibule', 'keycloak']).default('vestibule'),
    )
    .addOption(new Option('--format <format>', 'default: by the name of the file').choices(['jsonl', 'csv']))
    .addOption(
      repeatable('--customer <key>', 'customer of users for whom the file names none; may be repeated', readShortName),
    )
    .option('--accept-unverified', 'take over users whose email address the source has not verified')
    .option('--dry-run', 'check every line, store nothing')
    .option('--refused <file>', 'write refused lines to this file, with the reasons, to be corrected and imported')
    .addHelpText(
      'after',
      `
A line that is wrong is refused and changes nothing; the others are taken over. Users who are there already with the
same values count as unchanged. Exit code 1 if a line was refused. docs/moving-in.md has the steps for each source.

Examples:
  vestibule user import users.jsonl --dry-run
  vestibule user import users.csv --customer acme --refused refused.csv
  jq -c '.users[]' realm-users-*.json | vestibule user import - --from keycloak --customer acme`,
    )
    .action(onKeys(runImport));
  user
    .command('export')
    .description('write every user as JSON Lines to standard output; user import reads them')
    .option(
      '--secrets',
      'with password hashes and the secrets of authenticator apps: whoever reads them can attack both',
    )
    .option('--json', 'write JSON Lines, as it does anyway')
    .addHelpText('after', '\nExample:\n  (umask 077 && vestibule user export --secrets > users.jsonl)')
    .action(onKeys(runExport));
}

async function runImport(keyed: Keyed, file: string, flags: ImportFlags): Promise<Answer> {
  const { entries, write } = await openImportFile(file, flags.format);
  const { importUsers } = await import('#server/accounts/import-users.ts');
  const outcome = await importUsers(keyed, entries, {
    from: flags.from,
    customers: flags.customer ?? [],
    acceptsUnverified: flags.acceptUnverified === true,
    dryRun: flags.dryRun === true,
  });
  if (flags.refused !== undefined) writeForOwner(flags.refused, write(outcome.refused));
  if (outcome.refused.length > 0) process.exitCode = exitCodes.refused;
  return answerOf(outcome, flags);
}

/** Reads an export, or standard input for `-`. Throws a failure if there is none, or its format is unclear. */
async function openImportFile(path: string, format: ImportFlags['format']): Promise<ImportFile> {
  const isCsv = (format ?? formatOf(path)) === 'csv';
  const text = path === '-' ? readText(await buffer(process.stdin)) : readTextFile(path);
  if (text.kind === 'refused') throw failure(`${text.problem}.`);
  // Code that other commands don't need is loaded on demand.
  const { readCsv, readJsonLines } = await import('#server/accounts/read-records.ts');
  return isCsv ? readCsv(text.value) : readJsonLines(text.value);
}

function formatOf(path: string): 'jsonl' | 'csv' {
  if (path === '-' || /\.(?:jsonl|ndjson)$/i.test(path)) return 'jsonl';
  if (/\.(?:csv|tsv|txt)$/i.test(path)) return 'csv';
  const hint = /\.json$/i.test(path) ? '; jq -c turns a JSON document into lines, see docs/moving-in.md' : '';
  throw failure(`${path}: is it JSON Lines or CSV? --format says so${hint}.`);
}

function writeForOwner(path: string, text: string): void {
  try {
    // An older file there may be anybody's to read.
    rmSync(path, { force: true });
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw failure(`--refused: ${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function answerOf({ added, unchanged, refused }: StoredBatch, { dryRun = false, refused: file }: ImportFlags): Answer {
  const more = refused.length - mostShown;
  const begin = dryRun ? 'Dry run, nothing is stored. Users that would be added' : 'Users added';
  const place = file && refused.length > 0 ? `, see ${file}` : '';
  return {
    value: { added, unchanged, refused: refused.length, dryRun },
    words: `${begin}: ${added}; unchanged: ${unchanged}; refused lines: ${refused.length}${place}.`,
    warnings: [
      ...refused.slice(0, mostShown).map(({ line, problem }) => `line ${line}: ${problem}`),
      ...(more > 0 ? [`… and ${more} more: --refused FILE writes them all to a file.`] : []),
    ],
  };
}

async function runExport({ sql, keys }: Keyed, { secrets }: { secrets?: true }): Promise<null> {
  if (secrets)
    printWarning(
      'Warning: the export holds password hashes and the secrets of authenticator apps in plain text. Store it encrypted, and delete it after use.',
    );
  await record(sql, 'users-exported');
  // Code that other commands don't need is loaded on demand.
  const { exportUsers } = await import('#server/accounts/export-users.ts');
  const isGone = () => failure('Standard output was closed; the export is incomplete.');
  for await (const { username, line, lacksApp } of exportUsers(sql, secrets ? keys : null)) {
    if (lacksApp) {
      printWarning(`The app of ${username} is left out: it is sealed under a secret missing from VESTIBULE_SECRET.`);
      process.exitCode = exitCodes.refused;
    }
    if (process.stdout.destroyed) throw isGone();
    if (process.stdout.write(`${line}\n`) === false)
      await once(process.stdout, 'drain').catch(() => Promise.reject(isGone()));
  }
  return null;
}
