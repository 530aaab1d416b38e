import { X509Certificate } from 'node:crypto';
import { type Command, Option } from 'commander';
import { removeConnection } from '#server/single-sign-on/change-connection.ts';
import { wordsOfConnection } from '#server/single-sign-on/connection-words.ts';
import { changePortalKeys, listPortalKeys, type PortalKeyRow, portalKeys } from '#server/single-sign-on/portal-keys.ts';
import { listSsoConnections } from '#server/single-sign-on/sso-connection.ts';
import { unlinkUser } from '#server/single-sign-on/sso-subject.ts';
import { confirm, confirmIfNeeded, type YesFlag, yesFlag } from './confirm.ts';
import {
  addConnectionChangeCommands,
  existingConnection,
  publicView,
  whatTheProviderNeeds,
} from './connection-change-commands.ts';
import { lineOf } from './doctor-command.ts';
import { type Answer, exitCodes, factsOf, failure, localTime, tableOf, yesOrNo } from './print.ts';
import { byOperator, type Keyed, type Opened, onDatabase, onKeys } from './with-database.ts';

/** `vestibule connection …` */
export function addConnectionCommands(program: Command): void {
  const connection = program.command('connection').description("the customers' own identity providers");
  addConnectionChangeCommands(connection);
  connection.command('list').description('list all connections').action(onDatabase(runList));
  connection
    .command('show <key>')
    .description('show a connection, and what its provider needs')
    .action(onDatabase(runShow));
  connection
    .command('test')
    .argument('[key]', 'the connection (default: all enabled ones)')
    .description('check everything at the provider that can be checked without signing in, and name the wrong field')
    .option('--json', 'print the checks as JSON: {connection, step, ok, words}')
    .action(onKeys(runTest));
  connection
    .command('unlink <key>')
    .argument('<name>', 'username or email')
    .description('unlink a user from a subject; the next subject with their address is linked')
    .action(onDatabase(runUnlink));
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
    .action(onKeys(runKeys));
  connection
    .command('remove <key>')
    .description('remove a connection and end its sessions; its users stay')
    .option(...yesFlag)
    .action(onDatabase(runRemove));
}

async function runList({ sql, config }: Opened): Promise<Answer> {
  const connections = await listSsoConnections(sql);
  if (connections.length === 0)
    return { value: [], words: 'There are no connections yet: vestibule connection add --help' };
  const rows = connections.map(({ key, customerKey, protocol, domains, required, active, createdAt }) => [
    ...[key, customerKey, protocol, domains.join(', ')],
    ...[yesOrNo(required), yesOrNo(active), localTime(createdAt)],
  ]);
  return {
    value: connections.map((found) => publicView(found, config)),
    words: tableOf(['KEY', 'CUSTOMER', 'PROTOCOL', 'DOMAINS', 'REQUIRED', 'ACTIVE', 'ADDED'], rows),
  };
}

async function runShow({ sql, config }: Opened, key: string): Promise<Answer> {
  const found = await existingConnection(sql, key);
  const { customerKey: customer, protocol } = found;
  const facts = [['key', key], ['customer', customer], ['protocol', protocol], ...wordsOfConnection(found)] as const;
  const words = `${factsOf(facts)}\n\nFor the provider:\n${factsOf(whatTheProviderNeeds(config, found))}`;
  return { value: publicView(found, config), words };
}

async function runTest(keyed: Keyed, key: string | undefined): Promise<Answer> {
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
  if (checks.some(({ ok }) => ok === false)) process.exitCode = exitCodes.refused;
  const lines = checks.map(({ connection, step, ...check }) => lineOf({ ...check, check: `${connection} ${step}` }));
  return { value: checks, words: lines.join('\n') };
}

async function runUnlink({ sql }: Opened, key: string, name: string): Promise<Answer> {
  const result = await unlinkUser(sql, key, name, byOperator());
  if (result.kind === 'noConnection') throw failure(`There is no connection ${key}.`);
  if (result.kind === 'noUser') throw failure(`There is no user ${name}.`);
  const { kind, ...facts } = result;
  const value = { unlinked: kind === 'unlinked', ...facts };
  if (result.kind === 'notLinked') return { value, words: `User ${name} is not linked.` };
  const { sessionsEnded, hasApp, rememberedDevices } = result;
  const has = [
    ...(hasApp ? ['an authenticator app'] : []),
    ...(rememberedDevices > 0 ? [`devices that need no code (${rememberedDevices})`] : []),
  ].join(' and ');
  const warning = `Warning: ${name} has ${has}, perhaps set up by the person who was linked – vestibule user reset-two-factor ${name}.`;
  const words = `User ${name} will be linked again at the next sign-in; sessions ended: ${sessionsEnded}.`;
  return { value, words, warnings: has ? [warning] : [] };
}

type KeysFlags = YesFlag & { add?: true; use?: true; withdraw?: 'next' | 'last' };

async function runKeys(keyed: Keyed, flags: KeysFlags): Promise<Answer> {
  const { add, use, withdraw } = flags;
  await portalKeys(keyed);
  if (add && !(await changePortalKeys(keyed, 'add'))) throw failure('keys: there is already a next key.');
  if (use && !(await changePortalKeys(keyed, 'use'))) throw failure('keys: there is no next key: --add creates one.');
  if (withdraw) {
    await confirm(`This deletes the ${withdraw} key of the portal for good`, flags);
    if (!(await changePortalKeys(keyed, withdraw))) throw failure(`keys: there is no ${withdraw} key.`);
  }
  const rows = await listPortalKeys(keyed.sql);
  const table = tableOf(['STAGE', 'SHA-256 OF THE CERTIFICATE', 'CREATED', 'EXPIRES'], rows.map(rowOfKey));
  const hint = rows.length === 1 ? '\n\nOne key is published; --add publishes the next one.' : '';
  return { value: rows.map(({ sealedKey: _, ...row }) => row), words: table + hint };
}

function rowOfKey({ stage, certificate, madeAt, endsAt }: PortalKeyRow): string[] {
  const { fingerprint256 } = new X509Certificate(certificate);
  return [stage, fingerprint256.replaceAll(':', '').slice(0, 16).toLowerCase(), localTime(madeAt), localTime(endsAt)];
}

async function runRemove({ sql }: Opened, key: string, flags: YesFlag): Promise<Answer> {
  const result = await confirmIfNeeded(`This removes connection ${key} for good`, flags, (isAgreed) =>
    removeConnection(sql, key, byOperator(), isAgreed),
  );
  if (result.kind === 'notFound') throw failure(`There is no connection ${key}.`);
  const { sessionsEnded } = result;
  const words = `Connection ${key} removed; sessions ended: ${sessionsEnded}.`;
  return { value: { removed: key, sessionsEnded }, words };
}
