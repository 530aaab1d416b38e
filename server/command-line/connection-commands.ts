import { type Command, Option } from 'commander';
import type { Config } from '../config/config.ts';
import {
  type ChangeOfConnection,
  changeConnection,
  trustsAddressesLess,
  wordsOf,
} from '../single-sign-on/change-connection.ts';
import { doubtsAbout } from '../single-sign-on/connection-doubts.ts';
import { readProviderUrl, readProviderValue } from '../single-sign-on/read-connection.ts';
import { removeConnection } from '../single-sign-on/remove-connection.ts';
import { unlinkUser } from '../single-sign-on/unlink-user.ts';
import type { Database } from '../storage/database.ts';
import { findSsoConnectionByKey, listSsoConnections, type SsoConnection } from '../storage/sso-connection.ts';
import type { OidcSettings, SamlSettings } from '../storage/sso-settings.ts';
import { findLinksOfConnection } from '../storage/sso-subject.ts';
import { askToGoOn, yesFlag } from './ask-to-go-on.ts';
import { addConnectionAddCommands, whatTheProviderNeeds } from './connection-add-commands.ts';
import {
  addConnectionFlags,
  addSecretFlags,
  type ClientAuthFlag,
  type ConnectionFlags,
  clientAuthenticationOf,
  clientAuthOption,
  clientSecretOf,
  connectionChanges,
  logoutAddressTaken,
  maxAuthenticationAge,
  networksOf,
  providerTaken,
} from './connection-flags.ts';
import { addConnectionKeysCommand } from './connection-keys-command.ts';
import { addConnectionTestCommand } from './connection-test-command.ts';
import { failure } from './failure.ts';
import { type OnOff, onOff, repeatable } from './options.ts';
import { localTime, printFacts, printJson, printLine, printTable, printWarning } from './print.ts';
import { samlSettingsOf } from './read-metadata-argument.ts';
import { accepted } from './read-values.ts';
import { publicView } from './show-connection.ts';
import { withDatabase } from './with-database.ts';
import { withKeys } from './with-keys.ts';

type JsonFlag = { json?: true };
type SetFlags = ConnectionFlags & {
  issuer?: string;
  clientId?: string;
  clientAuth?: ClientAuthFlag;
  scope?: string[];
  metadata?: string;
  idpInitiated?: OnOff;
  requireEncryption?: OnOff;
  enable?: true;
  disable?: true;
  yes?: true;
  keepLinks?: true;
};

/** `vestibule connection …` */
export function addConnectionCommands(program: Command): void {
  const connection = program.command('connection').description("the customers' own identity providers");
  addConnectionAddCommands(connection);
  addListCommands(connection);
  addSetCommand(connection);
  addConnectionTestCommand(connection);
  addUnlinkCommand(connection);
  addConnectionKeysCommand(connection);
  addRemoveCommand(connection);
}

function addListCommands(connection: Command): void {
  connection
    .command('list')
    .description('list all connections')
    .option('--json', 'print them as JSON')
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
    .option('--json', 'print it as JSON')
    .action((key: string, { json }: JsonFlag) =>
      withDatabase(async (sql, config) => {
        const found = await existing(sql, key);
        if (json) return printJson(publicView(found, config));
        show(found, config);
      }),
    );
}

function rowOf({ key, customerKey, protocol, domains, required, active, createdAt }: SsoConnection): string[] {
  const yesNo = (value: boolean) => (value ? 'yes' : 'no');
  return [key, customerKey, protocol, domains.join(', '), yesNo(required), yesNo(active), localTime(createdAt)];
}

function show(connection: SsoConnection, config: Config): void {
  const { key, customerKey, protocol } = connection;
  printFacts([['key', key], ['customer', customerKey], ['protocol', protocol], ...wordsOf(connection)]);
  printLine('\nFor the provider:');
  printFacts(whatTheProviderNeeds(config, connection));
}

/** The connection with a key. Throws a failure if there is none. */
async function existing(sql: Database, key: string): Promise<SsoConnection> {
  const found = await findSsoConnectionByKey(sql, key);
  if (!found) throw failure(`There is no connection ${key}.`);
  return found;
}

function addSetCommand(connection: Command): void {
  const set = connection
    .command('set')
    .argument('<key>')
    .description('change a connection; unspecified options stay unchanged')
    .option('--issuer <url>', "OpenID Connect: the provider's issuer")
    .option('--client-id <id>', 'OpenID Connect: the client ID that the provider assigned')
    .addOption(repeatable('--scope <scope>', 'OpenID Connect: scope besides openid, replacing the existing ones'))
    .addOption(clientAuthOption())
    .option('--metadata <file-or-url>', "SAML: the provider's current metadata")
    .option(
      '--keep-links',
      'with another issuer or entity ID: it is the same provider with the same users, who stay linked and signed in; ' +
        'with fewer domains: so do their users',
    )
    .addOption(onOff('--idp-initiated', 'SAML: allow sign-ins that start at the provider'))
    .addOption(onOff('--require-encryption', 'SAML: refuse assertions that are not encrypted'))
    .option('--no-second-factor', 'no longer accept a second factor from the provider')
    .addOption(
      new Option(
        '--disable',
        'end its sessions and disable sign-in through it; where it is required, its domains cannot sign in at all',
      ).conflicts('enable'),
    )
    .option('--enable', 'enable sign-in through it again; ended sessions stay ended')
    .option(...yesFlag);
  addSecretFlags(addConnectionFlags(set)).action(runSet);
}

async function runSet(key: string, flags: SetFlags, command: Command): Promise<void> {
  const changes: ChangeOfConnection = connectionChanges(flags);
  if (flags.enable || flags.disable) changes.active = flags.enable === true;
  const secret = await clientSecretOf(flags);
  if (secret !== undefined) changes.secret = secret;
  await withKeys(async ({ sql, keys, config }) => {
    const before = await existing(sql, key);
    const settings = await changedSettings(before, flags);
    if (settings) changes.settings = settings;
    if (Object.keys(changes).length === 0) command.error('error: nothing to change, see --help');
    if (flags.keepLinks) changes.keepsLinks = true;
    const result = await askToGoOn(
      (isAgreed) => changeConnection({ sql, keys }, key, changes, new Date(), isAgreed),
      flags.yes === true,
    );
    if (result.kind === 'notFound') throw failure(`There is no connection ${key}.`);
    if (result.kind === 'providerTaken') throw failure(providerTaken(result.by));
    if (result.kind === 'logoutAddressTaken') throw failure(logoutAddressTaken(result.by));
    for (const doubt of doubtsAbout(key, await listSsoConnections(sql))) printWarning(`Warning: ${doubt}.`);
    const isTrustedLess = trustsAddressesLess(before, changes);
    const showsLinks = changes.active !== undefined || isTrustedLess;
    const links = showsLinks ? await findLinksOfConnection(sql, before.id, { most: 5 }) : null;
    if (flags.json) {
      const { sessionsEnded, usersUnlinked } =
        result.kind === 'changed' ? result : { sessionsEnded: 0, usersUnlinked: 0 };
      return printJson({
        ...publicView(await existing(sql, key), config),
        ...((flags.disable || usersUnlinked > 0) && { sessionsEnded }),
        ...(usersUnlinked > 0 && { usersUnlinked }),
        ...(links && { linkedUsers: links }),
      });
    }
    if (result.kind === 'unchanged') return printLine(`Connection ${key} already has these settings.`);
    const lines = result.steps.map(({ step, outcome }) => `  ${step}: ${outcome}`);
    printLine([`Connection ${key} changed.`, ...lines].join('\n'));
    if (links) printLinks(key, links, isTrustedLess ? 'They stay linked;' : 'If the provider was compromised,');
  });
}

/**
 * Links outlive a provider's compromise, and the trust in its addresses, so operators see them when they disable or enable
 * its connection or trust it less; `why`: some may be wrong.
 */
function printLinks(
  key: string,
  { count, latest }: Awaited<ReturnType<typeof findLinksOfConnection>>,
  why: string,
): void {
  const names = latest.map(({ username, linkedAt }) => `${username} (${localTime(linkedAt)})`).join(', ');
  printLine(`Linked users: ${count}${names && `, the latest: ${names}`}.`);
  if (count > 0) printLine(`${why} undo doubtful links: vestibule connection unlink ${key} <name>.`);
}

/** The protocol's settings with the flags applied, or null if they change none. */
async function changedSettings(
  connection: SsoConnection,
  flags: SetFlags,
): Promise<OidcSettings | SamlSettings | null> {
  const { issuer, clientId, scope, metadata, idpInitiated, requireEncryption, providerNetwork } = flags;
  const networks = providerNetwork ? networksOf(providerNetwork) : connection.providerNetworks;
  const { clientAuth } = flags;
  const isOidcChange = [issuer, clientId, scope, clientAuth].some((flag) => flag !== undefined);
  const isSamlChange = metadata !== undefined || idpInitiated !== undefined || requireEncryption !== undefined;
  const age = maxAuthenticationAge(flags);
  const isAgeChange = 'maxAuthenticationAge' in age;
  if (connection.protocol === 'oidc') {
    if (isSamlChange) throw failure(`${connection.key} uses OpenID Connect; that option is for SAML.`);
    if (!isOidcChange && !isAgeChange) return null;
    const needsSecret = clientAuth !== undefined && clientAuth !== 'private-key';
    if (needsSecret && connection.sealedSecret === null && !flags.clientSecretStdin)
      throw failure('--client-auth: there is no client secret yet; pipe it in with --client-secret-stdin.');
    return {
      ...connection.settings,
      ...age,
      ...(issuer !== undefined && { issuer: accepted(readProviderUrl('--issuer', issuer)) }),
      ...(clientId !== undefined && { clientId: accepted(readProviderValue('--client-id', clientId)) }),
      ...(clientAuth && { clientAuthentication: clientAuthenticationOf(clientAuth) }),
      ...(scope && { scopes: scope.map((text) => accepted(readProviderValue('--scope', text))) }),
    };
  }
  if (isOidcChange) throw failure(`${connection.key} uses SAML; that option is for OpenID Connect.`);
  if (!isSamlChange && !isAgeChange) return null;
  return {
    ...connection.settings,
    ...age,
    ...(metadata !== undefined && (await samlSettingsOf(metadata, networks))),
    ...(idpInitiated && { mayBegin: idpInitiated === 'on' }),
    ...(requireEncryption && { wantsEncryption: requireEncryption === 'on' }),
  };
}

function addUnlinkCommand(connection: Command): void {
  connection
    .command('unlink')
    .argument('<key>')
    .argument('<name>', 'username or email')
    .description('unlink a user from a subject; the next subject with their address is linked')
    .option('--json', 'print the outcome as JSON')
    .action((key: string, name: string, { json }: JsonFlag) =>
      withDatabase(async (sql) => {
        const result = await unlinkUser(sql, key, name, new Date());
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

function addRemoveCommand(connection: Command): void {
  connection
    .command('remove')
    .argument('<key>')
    .description('remove a connection and end its sessions; its users stay')
    .option(...yesFlag)
    .option('--json', 'print the outcome as JSON')
    .action((key: string, { json, yes }: JsonFlag & { yes?: true }) =>
      withDatabase(async (sql) => {
        const result = await askToGoOn((isAgreed) => removeConnection(sql, key, new Date(), isAgreed), yes === true);
        if (result.kind === 'notFound') throw failure(`There is no connection ${key}.`);
        const { sessionsEnded } = result;
        if (json) return printJson({ removed: key, sessionsEnded });
        printLine(`Connection ${key} removed; sessions ended: ${sessionsEnded}.`);
      }),
    );
}
