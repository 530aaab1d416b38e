import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Command } from 'commander';
import { findCustomer } from '#server/people/customer.ts';
import { exitCodes, failure, printWarning } from './print.ts';
import { type Keyed, withKeys } from './with-database.ts';

type Flags = { secrets?: true; customer?: string; yes?: true };

/** `vestibule user export` */
export function addUserExportCommand(user: Command): void {
  user
    .command('export')
    .description('write every user as JSON Lines to standard output; user import reads them')
    .option(
      '--secrets',
      'with password hashes and the secrets of authenticator apps: whoever reads them can attack both',
    )
    .option('--customer <key>', 'only users of this customer')
    .option('--json', 'write JSON Lines, as it does anyway')
    .option('--yes', 'write secrets even to a terminal')
    .addHelpText('after', '\nExample:\n  (umask 077 && vestibule user export --secrets > users.jsonl)')
    .action((flags: Flags) => {
      refuseTerminal(flags, process.stdout.isTTY);
      return withKeys((keyed) => run(keyed, flags));
    });
}

/** Throws a failure for secrets on their way to a terminal, which shows them and keeps them in its history. */
export function refuseTerminal({ secrets, yes }: Flags, isTerminal: boolean): void {
  if (secrets && isTerminal && !yes)
    throw failure('Secrets are not written to a terminal. Redirect the output into a file, or add --yes.');
}

async function run({ sql, keys }: Keyed, { secrets, customer }: Flags): Promise<void> {
  if (customer !== undefined && !(await findCustomer(sql, customer)))
    throw failure(`There is no customer ${customer}.`);
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
      customerKey: customer ?? null,
      onUnreadable(username) {
        printWarning(`The app of ${username} is left out: it is sealed under a secret missing from VESTIBULE_SECRET.`);
        process.exitCode = exitCodes.refused;
      },
    },
  );
  for await (const line of lines) if (process.stdout.write(`${line}\n`) === false) await drained(process.stdout);
}

/** Waits until the reader of an export has caught up. Throws a failure if it is gone. */
export async function drained(stream: Writable): Promise<void> {
  const gone = failure('Standard output was closed; the export is incomplete.');
  if (stream.destroyed) throw gone;
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]);
  } catch {
    throw gone;
  } finally {
    // Removes the listeners of the event that did not happen.
    waiting.abort();
  }
  if (stream.destroyed) throw gone;
}
