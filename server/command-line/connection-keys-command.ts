import { X509Certificate } from 'node:crypto';
import type { Command } from 'commander';
import { publishNextKey, signWithNextKey, withdrawKey } from '../single-sign-on/change-portal-keys.ts';
import { portalKeys } from '../single-sign-on/portal-keys.ts';
import { listPortalKeys, type PortalKeyRow } from '../storage/portal-key.ts';
import { failure } from './failure.ts';
import { localTime, printJson, printLine, printTable } from './print.ts';
import { type Keyed, withKeys } from './with-keys.ts';

type Flags = { add?: true; use?: true; withdraw?: 'next' | 'last'; json?: true };

/** `vestibule connection keys`: the portal's own keys, and their rotation without an interruption. */
export function addConnectionKeysCommand(connection: Command): void {
  connection
    .command('keys')
    .description("list the portal's own keys, by which providers recognize it")
    .option('--add', 'publish the next key beside the current one')
    .option('--use', 'sign with the next key from now on; the current one stays published as "last"')
    .option('--withdraw <stage>', 'remove the next or the last key from the metadata')
    .option('--json', 'print them as JSON')
    .addHelpText(
      'after',
      '\nTo change the key: --add, wait until every provider has reloaded the metadata, --use, and after some days\n--withdraw last.',
    )
    .action((flags: Flags) => withKeys((keyed) => runKeys(keyed, flags)));
}

async function runKeys(keyed: Keyed, { add, use, withdraw, json }: Flags): Promise<void> {
  await portalKeys(keyed);
  if (add && !(await publishNextKey(keyed))) throw failure('keys: there is already a next key.');
  if (use && !(await signWithNextKey(keyed))) throw failure('keys: there is no next key: --add creates one.');
  if (withdraw) {
    if (withdraw !== 'next' && withdraw !== 'last') throw failure('--withdraw: must be next or last.');
    if (!(await withdrawKey(keyed, withdraw))) throw failure(`keys: there is no ${withdraw} key.`);
  }
  const rows = await listPortalKeys(keyed.sql);
  if (json) return printJson(rows.map(({ sealedKey: _, ...row }) => row));
  printTable(['STAGE', 'SHA-256 OF THE CERTIFICATE', 'CREATED', 'EXPIRES'], rows.map(rowOf));
  if (rows.length === 1) printLine('\nOne key is published; --add publishes the next one.');
}

function rowOf({ stage, certificate, madeAt, endsAt }: PortalKeyRow): string[] {
  const { fingerprint256 } = new X509Certificate(certificate);
  return [stage, fingerprint256.replaceAll(':', '').slice(0, 16).toLowerCase(), localTime(madeAt), localTime(endsAt)];
}
