import { once } from 'node:events';
import { openSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import type { ImportCounts, ImportOptions, RefusedLine } from '#server/accounts/import-users.ts';
import type { ImportEntry } from '#server/accounts/read-records.ts';
import { readShortName } from '#server/names/read-name.ts';
import { repeatable } from './options.ts';
import { exitCodes, failure, printJson, printLine, printWarning } from './print.ts';
import { type Keyed, withKeys } from './with-database.ts';

type ImportFlags = {
  from: ImportOptions['from'];
  format?: 'jsonl' | 'csv';
  customer?: string[];
  dryRun?: true;
  refused?: string;
  acceptUnverified?: true;
  json?: true;
};

/** Refused lines that are shown if no file receives them. */
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
    .addOption(repeatable('--customer <key>', 'customer of users for whom the file names none; may be repeated'))
    .option('--accept-unverified', 'take over users whose email address the source has not verified')
    .option('--dry-run', 'check every line, store nothing')
    .option('--refused <file>', 'write refused lines to this file, one JSON object each')
    .option('--json', 'print the counts as JSON')
    .addHelpText(
      'after',
      `
A line that is wrong is refused and changes nothing; the others are taken over. Users who are there already with the
same values count as unchanged. Exit code 1 if a line was refused. docs/moving-in.md has the steps for each source.

Examples:
  vestibule user import users.jsonl --dry-run
  vestibule user import users.csv --customer acme --refused refused.jsonl
  jq -c '.users[]' realm-users-*.json | vestibule user import - --from keycloak --customer acme`,
    )
    .action(runImport);
  user
    .command('export')
    .description('write every user as JSON Lines to standard output; user import reads them')
    .option(
      '--secrets',
      'with password hashes and the secrets of authenticator apps: whoever reads them can attack both',
    )
    .option('--json', 'write JSON Lines, as it does anyway')
    .addHelpText('after', '\nExample:\n  (umask 077 && vestibule user export --secrets > users.jsonl)')
    .action((flags: ExportFlags) => withKeys((keyed) => runExport(keyed, flags)));
}

async function runImport(file: string, flags: ImportFlags): Promise<void> {
  const wrongKey = flags.customer?.find((key) => readShortName(key).kind === 'refused');
  if (wrongKey !== undefined) throw failure(`customer: ${JSON.stringify(wrongKey)} is not the key of a customer.`);
  const entries = await openImportFile(file, flags.format);
  const writeRefused = flags.refused === undefined ? null : openRefusedFile(flags.refused);
  const shown: RefusedLine[] = [];
  await withKeys(async (keyed) => {
    const { importUsers } = await import('#server/accounts/import-users.ts');
    const counts = await importUsers(keyed, entries, {
      from: flags.from,
      rules: {
        customers: flags.customer ?? [],
        acceptsUnverified: flags.acceptUnverified === true,
      },
      dryRun: flags.dryRun === true,
      onRefused(line) {
        writeRefused?.(line);
        if (shown.length < mostShown) shown.push(line);
      },
    });
    report(counts, { shown, flags });
  });
}

/** Opens an export, or standard input for `-`. Throws a failure if there is none, or its format is unclear. */
async function openImportFile(path: string, format: ImportFlags['format']): Promise<AsyncIterable<ImportEntry>> {
  const isCsv = (format ?? formatOf(path)) === 'csv';
  const unreadable = ({ code }: NodeJS.ErrnoException) => failure(`${path} cannot be read (${code}).`);
  const chunks =
    path === '-'
      ? process.stdin
      : await open(path).then(
          (file) => file.createReadStream(),
          (error) => Promise.reject(unreadable(error)),
        );
  async function* read() {
    try {
      for await (const chunk of chunks) yield chunk as Buffer;
    } catch (error) {
      throw unreadable(error as Error);
    }
  }
  // Code that other commands don't need is loaded on demand.
  const { readCsv, readJsonLines } = await import('#server/accounts/read-records.ts');
  return isCsv ? readCsv(read()) : readJsonLines(read());
}

function formatOf(path: string): 'jsonl' | 'csv' {
  if (path === '-' || /\.(?:jsonl|ndjson)$/i.test(path)) return 'jsonl';
  if (/\.csv$/i.test(path)) return 'csv';
  const hint = /\.json$/i.test(path) ? '; jq -c turns a JSON document into lines, see docs/moving-in.md' : '';
  throw failure(`${path}: is it JSON Lines or CSV? --format says so${hint}.`);
}

/** Opens a file for refused lines, which only its owner reads; returns what writes a line. */
function openRefusedFile(path: string): (line: RefusedLine) => void {
  try {
    const file = openSync(path, 'w', 0o600);
    return (line) => void writeSync(file, `${JSON.stringify(line)}\n`);
  } catch (error) {
    throw failure(`--refused: ${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function report(counts: ImportCounts, { shown, flags }: { shown: readonly RefusedLine[]; flags: ImportFlags }): void {
  const { added, unchanged, refused } = counts;
  if (flags.refused === undefined) for (const line of shown) printWarning(inWords(line));
  if (flags.refused === undefined && refused > shown.length)
    printWarning(`… and ${refused - shown.length} more: --refused FILE writes them all to a file.`);
  if (flags.json) printJson({ ...counts, dryRun: flags.dryRun === true });
  else
    printLine(
      `${flags.dryRun ? 'Dry run, nothing is stored. Users that would be added' : 'Users added'}: ${added}; ` +
        `unchanged: ${unchanged}; refused lines: ${refused}${flags.refused && refused > 0 ? `, see ${flags.refused}` : ''}.`,
    );
  if (refused > 0) process.exitCode = exitCodes.refused;
}

function inWords({ line, field, reason }: RefusedLine): string {
  return `line ${line}: ${field === 'line' ? '' : `${field}: `}${reason}`;
}

type ExportFlags = { secrets?: true };

async function runExport({ sql, keys }: Keyed, { secrets }: ExportFlags): Promise<void> {
  if (secrets)
    printWarning(
      'Warning: the export holds password hashes and the secrets of authenticator apps in plain text. Store it encrypted, and delete it after use.',
    );
  // Code that other commands don't need is loaded on demand.
  const { exportUsers } = await import('#server/accounts/export-users.ts');
  const lines = exportUsers(
    { sql, keys },
    {
      withSecrets: secrets === true,
      onUnreadable(username) {
        printWarning(`The app of ${username} is left out: it is sealed under a secret missing from VESTIBULE_SECRET.`);
        process.exitCode = exitCodes.refused;
      },
    },
  );
  const isGone = () => failure('Standard output was closed; the export is incomplete.');
  for await (const line of lines) {
    if (process.stdout.destroyed) throw isGone();
    if (process.stdout.write(`${line}\n`) === false)
      await once(process.stdout, 'drain').catch(() => Promise.reject(isGone()));
  }
}
