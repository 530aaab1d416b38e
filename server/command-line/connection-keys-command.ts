import { X509Certificate } from 'node:crypto';
import type { Command } from 'commander';
import { addPortalKey, portalKeys } from '../single-sign-on/portal-keys.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { deletePortalKey, listPortalKeys, type PortalKeyRow, promotePortalKey } from '../storage/portal-key.ts';
import { failure } from './failure.ts';
import { localTime, printJson, printLine, printTable } from './print.ts';
import { type Keyed, withKeys } from './with-keys.ts';

type Flags = { add?: true; use?: true; withdraw?: 'next' | 'last'; json?: true };

/** `vestibule connection keys`: the portal's own keys, and their rotation without an interruption. */
export function addConnectionKeysCommand(connection: Command): void {
  connection
    .command('keys')
    .description("list the portal's own keys, by which providers know it")
    .option('--add', 'publish the next key beside the current one')
    .option('--use', 'sign with the next key from now on; the current one stays published as the last')
    .option('--withdraw <stage>', 'take the next or the last key out of the metadata')
    .option('--json', 'print them as JSON')
    .addHelpText(
      'after',
      '\nTo change the key: --add, wait until every provider has read the metadata anew, --use, and after some days\n--withdraw last.',
    )
    .action((flags: Flags) => withKeys((keyed) => runKeys(keyed, flags)));
}

async function runKeys(keyed: Keyed, { add, use, withdraw, json }: Flags): Promise<void> {
  await portalKeys(keyed);
  if (add)
    await change(keyed, 'next key published', (sql) => addPortalKey(keyed, sql, 'next'), 'there is a next key already');
  if (use) await change(keyed, 'next key in use', promotePortalKey, 'there is no next key: --add makes one');
  if (withdraw) {
    if (withdraw !== 'next' && withdraw !== 'last') throw failure('refused', '--withdraw: must be next or last.');
    await change(
      keyed,
      `${withdraw} key withdrawn`,
      (sql) => deletePortalKey(sql, withdraw),
      `there is no ${withdraw} key`,
    );
  }
  const rows = await listPortalKeys(keyed.sql);
  if (json) return printJson(rows.map(({ sealedKey: _, ...row }) => row));
  printTable(['STAGE', 'SHA-256 OF THE CERTIFICATE', 'MADE', 'ENDS'], rows.map(rowOf));
  if (rows.length === 1) printLine('\nOne key is published; --add publishes the next one.');
}

async function change(
  { sql, now }: Keyed,
  outcome: string,
  work: (sql: Parameters<typeof promotePortalKey>[0]) => Promise<boolean>,
  problem: string,
): Promise<void> {
  await sql.begin(async (sql) => {
    if (!(await work(sql))) throw failure('refused', `keys: ${problem}.`);
    await insertAuditEvent(sql, { event: 'portal-key-changed', steps: [{ step: 'key', outcome }] }, now());
  });
}

function rowOf({ stage, certificate, madeAt, endsAt }: PortalKeyRow): string[] {
  const { fingerprint256 } = new X509Certificate(certificate);
  return [stage, fingerprint256.replaceAll(':', '').slice(0, 16).toLowerCase(), localTime(madeAt), localTime(endsAt)];
}
