import { type Command, Option } from 'commander';
import { type SourceName, sourceNames } from '#server/accounts/import-sources.ts';
import type { ImportCounts, RefusedLine } from '#server/accounts/import-users.ts';
import type { Config } from '#server/config/config.ts';
import type { Connection } from '#server/database/database.ts';
import { readShortName } from '#server/names/read-name.ts';
import { countUsersWithoutPasskey } from '#server/people/customer.ts';
import { exitCodes, failure } from './failure.ts';
import { importProgress, openImportFile, openRefusedFile } from './import-files.ts';
import { repeatable } from './options.ts';
import { printJson, printLine, printWarning } from './print.ts';
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
