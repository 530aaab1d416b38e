import { open } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { type SourceName, sourceNames } from '#server/accounts/import-sources.ts';
import type { ImportCounts, RefusedLine } from '#server/accounts/import-users.ts';
import type { ImportEntry } from '#server/accounts/read-records.ts';
import type { Config } from '#server/config/config.ts';
import type { Connection } from '#server/database/database.ts';
import { readShortName } from '#server/names/read-name.ts';
import { countUsersWithoutPasskey } from '#server/people/customer.ts';
import { repeatable } from './options.ts';
import { exitCodes, failure, printJson, printLine, printWarning } from './print.ts';
import { withKeys } from './with-database.ts';

type Flags = {
  from: SourceName;
  format?: 'jsonl' | 'csv';
  customer?: string[];
  dryRun?: true;
  refused?: string;
  acceptUnverified?: true;
  firebaseConfig?: string;
  json?: true;
};

/** Refused lines that are shown if no file receives them. */
const mostShown = 20;

/** `vestibule user import` */
export function addUserImportCommand(user: Command): void {
  user
    .command('import')
    .argument('<file>', 'an export in JSON Lines or CSV; - reads standard input')
    .description('add the users of another system, with password hashes; run it again to continue')
    .addOption(new Option('--from <source>', 'what wrote the file').choices(sourceNames).default('vestibule'))
    .addOption(new Option('--format <format>', 'default: by the name of the file').choices(['jsonl', 'csv']))
    .addOption(repeatable('--customer <key>', 'customer of users for whom the file names none; may be repeated'))
    .option('--accept-unverified', 'take over users whose email address the source has not verified')
    .option('--firebase-config <file>', "Firebase: the project's password hash parameters, as the console shows them")
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
    .action(runUserImport);
}

async function runUserImport(file: string, flags: Flags): Promise<void> {
  const wrongKey = flags.customer?.find((key) => readShortName(key).kind === 'refused');
  if (wrongKey !== undefined) throw failure(`customer: ${JSON.stringify(wrongKey)} is not the key of a customer.`);
  // Code that other commands don't need is loaded on demand.
  const { openImportSource } = await import('#server/accounts/import-sources.ts');
  const { firebaseConfig } = flags;
  const readSource = await openImportSource(flags.from, {
    now: () => new Date(),
    ...(firebaseConfig !== undefined && { firebaseConfig }),
  });
  if (readSource.kind === 'refused') throw failure(`${readSource.problem}.`);
  const entries = await openImportFile(file, flags.format);
  const refusedFile = flags.refused === undefined ? null : await openRefusedFile(flags.refused);
  const shown: RefusedLine[] = [];
  let isStopped = false;
  const stop = () => {
    isStopped = true;
  };
  process.once('SIGINT', stop);
  try {
    await withKeys(async ({ sql, config, keys, now }) => {
      const { importUsers } = await import('#server/accounts/import-users.ts');
      const progress = importProgress();
      const counts = await importUsers({ sql, keys, now }, entries, {
        readSource: readSource.value,
        rules: {
          customers: flags.customer ?? [],
          acceptsUnverified: flags.acceptUnverified === true,
          isStrict: flags.from === 'vestibule',
        },
        dryRun: flags.dryRun === true,
        onRefused(line) {
          refusedFile?.write(line);
          if (shown.length < mostShown) shown.push(line);
        },
        onProgress: progress.show,
        isStopped: () => isStopped,
      });
      progress.end();
      await refusedFile?.close();
      report(counts, { isStopped, shown, flags });
      await warnOfPeopleWithout(sql, config);
    });
  } finally {
    process.removeListener('SIGINT', stop);
  }
}

async function warnOfPeopleWithout(sql: Connection, { passkeys }: Pick<Config, 'passkeys'>): Promise<void> {
  const count = passkeys ? await countUsersWithoutPasskey(sql, { rpId: passkeys.id }) : 0;
  if (count > 0)
    printWarning(
      `Users of customers that take passkeys only, without one: ${count}. No password signs them in: vestibule user invite mails each a link to make one.`,
    );
}

function report(
  counts: ImportCounts,
  { isStopped, shown, flags }: { isStopped: boolean; shown: readonly RefusedLine[]; flags: Flags },
): void {
  const { added, unchanged, refused } = counts;
  if (flags.refused === undefined) for (const line of shown) printWarning(inWords(line));
  if (flags.refused === undefined && refused > shown.length)
    printWarning(`… and ${refused - shown.length} more: --refused FILE writes them all to a file.`);
  if (flags.json) printJson({ ...counts, dryRun: flags.dryRun === true, interrupted: isStopped });
  else
    printLine(
      `${flags.dryRun ? 'Dry run, nothing is stored. Users that would be added' : 'Users added'}: ${added}; ` +
        `unchanged: ${unchanged}; refused lines: ${refused}${flags.refused && refused > 0 ? `, see ${flags.refused}` : ''}.`,
    );
  if (isStopped) printWarning('Interrupted: run the same command again to continue.');
  if (isStopped || refused > 0) process.exitCode = exitCodes.refused;
}

function inWords({ line, field, reason }: RefusedLine): string {
  return `line ${line}: ${field === 'line' ? '' : `${field}: `}${reason}`;
}

/** Opens an export, or standard input for `-`. Throws a failure if there is none, or its format is unclear. */
export async function openImportFile(
  path: string,
  format: 'jsonl' | 'csv' | undefined,
): Promise<AsyncIterable<ImportEntry>> {
  const isCsv = (format ?? formatOf(path)) === 'csv';
  const chunks =
    path === '-'
      ? process.stdin
      : await open(path).then(
          (file) => file.createReadStream(),
          (error) => Promise.reject(unreadable(path, error)),
        );
  async function* read() {
    try {
      for await (const chunk of chunks) yield chunk as Buffer;
    } catch (error) {
      throw unreadable(path, error);
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

function unreadable(path: string, error: unknown): Error {
  return failure(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
}

/** A file of refused lines, readable by its owner only; it replaces an older one. Throws a failure if it can't be written. */
export async function openRefusedFile(
  path: string,
): Promise<{ write: (line: RefusedLine) => void; close: () => Promise<void> }> {
  const refused = (error: NodeJS.ErrnoException) => failure(`--refused: ${path} cannot be written (${error.code}).`);
  const file = await open(path, 'w', 0o600).catch((error) => Promise.reject(refused(error)));
  // An older file keeps its mode, and a device such as /dev/null is not ours to change.
  if ((await file.stat()).isFile()) await file.chmod(0o600).catch((error) => Promise.reject(refused(error)));
  let waiting: Promise<unknown> = Promise.resolve();
  return {
    write(line) {
      waiting = waiting.then(() => file.write(`${JSON.stringify(line)}\n`));
      waiting.catch(() => {});
    },
    async close() {
      await waiting.catch((error) => Promise.reject(refused(error)));
      await file.close();
    },
  };
}

/** Lines between two messages if there is no terminal. */
const linesBetween = 10_000;

/** Shows how far an import is, on standard error: in one line of a terminal, else in a line now and then. */
export function importProgress(): { show: (counts: ImportCounts) => void; end: () => void } {
  const isTerminal = process.stderr.isTTY === true;
  let told = 0;
  return {
    show({ added, unchanged, refused }) {
      const lines = added + unchanged + refused;
      const words = `${lines} lines: ${added} added, ${unchanged} unchanged, ${refused} refused`;
      if (isTerminal) process.stderr.write(`\r\u001b[K${words}`);
      else if (lines - told >= linesBetween) {
        told = lines;
        printWarning(words);
      }
    },
    end() {
      if (isTerminal) process.stderr.write('\n');
    },
  };
}
