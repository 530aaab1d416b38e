import { X509Certificate } from 'node:crypto';
import { type Command, Option } from 'commander';
import { removeConnection } from '#server/single-sign-on/change-connection.ts';
import { wordsOfConnection } from '#server/single-sign-on/connection-words.ts';
import { changePortalKeys, listPortalKeys, type PortalKeyRow, portalKeys } from '#server/single-sign-on/portal-keys.ts';
import { listSsoConnections, type SsoConnection } from '#server/single-sign-on/sso-connection.ts';
import { unlinkUser } from '#server/single-sign-on/sso-subject.ts';
import { confirm, confirmIfNeeded, type YesFlag, yesFlag } from './confirm.ts';
import {
  addConnectionChangeCommands,
  existingConnection,
  publicView,
  whatTheProviderNeeds,
} from './connection-change-commands.ts';

import { printCheck } from './doctor-command.ts';
import type { JsonFlag } from './options.ts';
import {
  exitCodes,
  failure,
  localTime,
  printFacts,
  printJson,
  printLine,
  printOutcome,
  printTable,
  printWarning,
  yesOrNo,
} from './print.ts';
import { byOperator, type Keyed, withDatabase, withKeys } from './with-database.ts';

/** `vestibule connection …` */
export function addConnectionCommands(program: Command): void {
  const connection = program.command('connection').description("the customers' own identity providers");
  addConnectionChangeCommands(connection);
  addListCommands(connection);
  addConnectionTestCommand(connection);
  addUnlinkCommand(connection);
  addConnectionKeysCommand(connection);
  addRemoveCommand(connection);
}

function addListCommands(connection: Command): void {
  connection
    .command('list')
    .description('list all connections')
    .action(({ json }: JsonFlag) =>
      withDatabase(async (sql, config) => {
        const connections = await listSsoConnections(sql);
        if (json) return printJson(connections.map((found) => publicView(found, config)));
        if (connections.length === 0) return printLine('There are no connections yet: vestibule connection add --help');
        printTable(['KEY', 'CUSTOMER', 'PROTOCOL', 'DOMAINS', 'REQUIRED', 'ACTIVE', 'ADDED'], connections.map(rowOf));
      }),
    );
  connection
    .command('show')
    .argument('<key>')
    .description('show a connection, and what its provider needs')
    .action((key: string, { json }: JsonFlag) =>
      withDatabase(async (sql, config) => {
        const found = await existingConnection(sql, key);
        if (json) return printJson(publicView(found, config));
        const { customerKey, protocol } = found;
        printFacts([['key', key], ['customer', customerKey], ['protocol', protocol], ...wordsOfConnection(found)]);
        printLine('\nFor the provider:');
        printFacts(whatTheProviderNeeds(config, found));
      }),
    );
}

function rowOf({ key, customerKey, protocol, domains, required, active, createdAt }: SsoConnection): string[] {
  return [key, customerKey, protocol, domains.join(', '), yesOrNo(required), yesOrNo(active), localTime(createdAt)];
}

/** `vestibule connection test` */
function addConnectionTestCommand(connection: Command): void {
  connection
    .command('test')
    .argument('[key]', 'the connection (default: all enabled ones)')
    .description('check everything at the provider that can be checked without signing in, and name the wrong field')
    .option('--json', 'print the checks as JSON: {connection, step, ok, words}')
    .action((key: string | undefined, { json }: JsonFlag) =>
      withKeys(async (keyed) => {
        const connections = (await listSsoConnections(keyed.sql)).filter((found) =>
          key === undefined ? found.active : found.key === key,
        );
        if (connections.length === 0)
          throw failure(key === undefined ? 'There are no connections yet.' : `There is no connection ${key}.`);
        // Code used only by this command is loaded on demand.
        const { checkConnection } = await import('#server/single-sign-on/check-connection.ts');
        const reports = connections.map(async (found) =>
          (await checkConnection(keyed, found)).map((check) => ({ connection: found.key, ...check })),
        );
        const checks = (await Promise.all(reports)).flat();
        if (json) printJson(checks);
        else
          for (const { connection, step, ...check } of checks) printCheck({ ...check, check: `${connection} ${step}` });
        if (checks.some(({ ok }) => ok === false)) process.exitCode = exitCodes.refused;
      }),
    );
}

function addUnlinkCommand(connection: Command): void {
  connection
    .command('unlink')
    .argument('<key>')
    .argument('<name>', 'username or email')
    .description('unlink a user from a subject; the next subject with their address is linked')
    .action((key: string, name: string, { json }: JsonFlag) =>
      withDatabase(async (sql) => {
        const result = await unlinkUser(sql, key, name, byOperator());
        if (result.kind === 'noConnection') throw failure(`There is no connection ${key}.`);
        if (result.kind === 'noUser') throw failure(`There is no user ${name}.`);
        const { kind, ...facts } = result;
        if (json) return printJson({ unlinked: kind === 'unlinked', ...facts });
        if (result.kind === 'notLinked') return printLine(`User ${name} is not linked.`);
        const { sessionsEnded, hasApp, rememberedDevices } = result;
        printLine(`User ${name} will be linked again at the next sign-in; sessions ended: ${sessionsEnded}.`);
        if (!hasApp && rememberedDevices === 0) return;
        const has = [
          ...(hasApp ? ['an authenticator app'] : []),
          ...(rememberedDevices > 0 ? [`devices that need no code (${rememberedDevices})`] : []),
        ].join(' and ');
        printWarning(
          `Warning: ${name} has ${has}, perhaps set up by the person who was linked – vestibule user reset-two-factor ${name}.`,
        );
      }),
    );
}

type KeysFlags = JsonFlag & YesFlag & { add?: true; use?: true; withdraw?: 'next' | 'last' };

/** `vestibule connection keys`: the portal's own keys, and their rotation without an interruption. */
function addConnectionKeysCommand(connection: Command): void {
  connection
    .command('keys')
    .description("list the portal's own keys, by which providers recognize it")
    .option('--add', 'publish the next key beside the current one')
    .option('--use', 'sign with the next key from now on; the current one stays published as "last"')
    .addOption(new Option('--withdraw <stage>', 'remove the next or the last key').choices(['next', 'last']))
    .option(...yesFlag)
    .addHelpText(
      'after',
      '\nTo change the key: --add, wait until every provider has reloaded the metadata, --use, and after some days\n--withdraw last.',
    )
    .action((flags: KeysFlags) => withKeys((keyed) => runKeys(keyed, flags)));
}

async function runKeys(keyed: Keyed, flags: KeysFlags): Promise<void> {
  const { add, use, withdraw, json } = flags;
  await portalKeys(keyed);
  if (add && !(await changePortalKeys(keyed, 'add'))) throw failure('keys: there is already a next key.');
  if (use && !(await changePortalKeys(keyed, 'use'))) throw failure('keys: there is no next key: --add creates one.');
  if (withdraw) {
    await confirm(`This deletes the ${withdraw} key of the portal for good`, flags);
    if (!(await changePortalKeys(keyed, withdraw))) throw failure(`keys: there is no ${withdraw} key.`);
  }
  const rows = await listPortalKeys(keyed.sql);
  if (json) return printJson(rows.map(({ sealedKey: _, ...row }) => row));
  printTable(['STAGE', 'SHA-256 OF THE CERTIFICATE', 'CREATED', 'EXPIRES'], rows.map(rowOfKey));
  if (rows.length === 1) printLine('\nOne key is published; --add publishes the next one.');
}

function rowOfKey({ stage, certificate, madeAt, endsAt }: PortalKeyRow): string[] {
  const { fingerprint256 } = new X509Certificate(certificate);
  return [stage, fingerprint256.replaceAll(':', '').slice(0, 16).toLowerCase(), localTime(madeAt), localTime(endsAt)];
}

function addRemoveCommand(connection: Command): void {
  connection
    .command('remove')
    .argument('<key>')
    .description('remove a connection and end its sessions; its users stay')
    .option(...yesFlag)
    .action((key: string, flags: JsonFlag & YesFlag) =>
      withDatabase(async (sql) => {
        const result = await confirmIfNeeded(`This removes connection ${key} for good`, flags, (isAgreed) =>
          removeConnection(sql, key, byOperator(), isAgreed),
        );
        if (result.kind === 'notFound') throw failure(`There is no connection ${key}.`);
        const { sessionsEnded } = result;
        const words = `Connection ${key} removed; sessions ended: ${sessionsEnded}.`;
        printOutcome(flags.json, { removed: key, sessionsEnded }, words);
      }),
    );
}
