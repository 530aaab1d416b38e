import { type Command, Option } from 'commander';
import { readShortName } from '#server/names/read-name.ts';
import { findCustomer } from '#server/people/customer.ts';
import {
  addConnection,
  type ChangeOfConnection,
  type ConnectionToAdd,
  changeConnection,
} from '#server/single-sign-on/change-connection.ts';
import type {
  OidcSettings,
  ProtocolSettings,
  SamlSettings,
  SsoConnection,
} from '#server/single-sign-on/sso-connection.ts';
import { confirmIfNeeded, yesFlag } from './confirm.ts';
import {
  addConnectionFlags,
  addSecretFlags,
  type ConnectionFlags,
  clientAuthenticationOf,
  clientAuthOption,
  clientSecretOf,
  connectionChanges,
  existingConnection,
  type OidcFlags,
  publicView,
  type SamlFlags,
  type SetFlags,
  takenFailure,
  whatTheProviderNeeds,
} from './connection-flags.ts';
import { accepted, onOff, repeatable } from './options.ts';
import { failure, printFacts, printJson, printLine, printWarning, stepsInWords } from './print.ts';
import { networksOf, readProviderUrl, readProviderValue, samlSettingsOf } from './read-connection.ts';
import { byOperator, withKeys } from './with-database.ts';

/** `vestibule connection add oidc`, `add saml` and `set` */
export function addConnectionChangeCommands(connection: Command): void {
  const add = connection.command('add').description('add a connection, then print what its provider needs');
  addSecretFlags(addConnectionFlags(addOidcCommand(add))).action(runOidc);
  addConnectionFlags(addSamlCommand(add)).action(runSaml);
  addSetCommand(connection);
}

function addOidcCommand(add: Command): Command {
  return add
    .command('oidc')
    .argument('<key>', 'short name of lower-case letters, digits and dashes')
    .description('by OpenID Connect')
    .requiredOption('--customer <key>', 'the customer whose users sign in through it')
    .requiredOption('--issuer <url>', "the provider's issuer, exactly as in its discovery document")
    .requiredOption('--client-id <id>', 'the client ID that the provider assigned')
    .addOption(clientAuthOption())
    .addOption(
      repeatable('--scope <scope>', 'scope to request besides openid; may be repeated (default: email, profile)'),
    )
    .addHelpText(
      'after',
      '\nExample:\n  vestibule connection add oidc acme-entra --customer acme --domain acme.example \\\n    --issuer https://login.microsoftonline.com/TENANT/v2.0 --client-id 1234 --client-secret-stdin < secret.txt\n\ndocs/single-sign-on.md covers Entra ID, Okta, Google Workspace and Keycloak.',
    );
}

function addSamlCommand(add: Command): Command {
  return add
    .command('saml')
    .argument('<key>', 'short name of lower-case letters, digits and dashes')
    .description('by SAML 2.0')
    .requiredOption('--customer <key>', 'the customer whose users sign in through it')
    .requiredOption('--metadata <file-or-url>', "the provider's metadata")
    .option('--idp-initiated', 'allow sign-ins that start at the provider, from its application page')
    .option('--require-encryption', 'refuse assertions that are not encrypted')
    .addHelpText(
      'after',
      '\nSAML cannot say that an address is verified: --trust-email is on by default.\n\nExample:\n  vestibule connection add saml acme-adfs --customer acme --domain acme.example --metadata metadata.xml',
    );
}

async function runOidc(key: string, flags: OidcFlags): Promise<void> {
  const clientAuthentication = clientAuthenticationOf(flags.clientAuth);
  const isKey = clientAuthentication === 'privateKey';
  const settings = {
    issuer: accepted(readProviderUrl('--issuer', flags.issuer)),
    clientId: accepted(readProviderValue('--client-id', flags.clientId)),
    clientAuthentication,
    scopes: (flags.scope ?? ['email', 'profile']).map((text) => accepted(readProviderValue('--scope', text))),
  };
  const secret = (await clientSecretOf(flags)) ?? null;
  if (!isKey && secret === null)
    throw failure('client secret: pipe it in with --client-secret-stdin, or use --client-auth private-key.');
  await add(key, flags, { protocol: 'oidc', settings }, { secret, trustsEmail: false });
}

async function runSaml(key: string, flags: SamlFlags): Promise<void> {
  const read = await samlSettingsOf(flags.metadata, networksOf(flags.providerNetwork ?? ['none']));
  const settings = {
    ...read,
    mayBegin: flags.idpInitiated === true,
    wantsEncryption: flags.requireEncryption === true,
  };
  await add(key, flags, { protocol: 'saml', settings }, { secret: null, trustsEmail: true });
}

async function add(
  keyText: string,
  flags: ConnectionFlags & { customer: string },
  protocol: ProtocolSettings,
  { secret, trustsEmail }: { secret: string | null; trustsEmail: boolean },
): Promise<void> {
  const key = accepted(readShortName(keyText));
  const { domains = [], ...given } = connectionChanges(flags);
  if (domains.length === 0) throw failure('--domain: name at least one email domain.');
  await withKeys(async ({ sql, keys, config }) => {
    const customer = await findCustomer(sql, flags.customer);
    const made = {
      key,
      name: customer?.name ?? key,
      customerKey: flags.customer,
      required: false,
      makesUsers: false,
      trustsEmail,
      secondFactorValues: [],
      attributes: {},
      domains,
      secret,
      secretEndsAt: null,
      providerNetworks: [],
      ...given,
      ...protocol,
    } as ConnectionToAdd;
    const result = await addConnection({ sql, keys }, made, byOperator());
    if (result.kind === 'taken') throw failure(`key: connection ${key} already exists.`);
    if (result.kind === 'providerTaken') throw takenFailure(result);
    if (result.kind === 'unknownCustomer') throw failure(`--customer: there is no customer ${flags.customer}.`);
    const stored = await existingConnection(sql, key);
    if (flags.json) return printJson(publicView(stored, config));
    printLine(`Connection ${key} added. Register at the provider:`);
    printFacts(whatTheProviderNeeds(config, stored));
    printWarning(`Then try it: vestibule connection test ${key}`);
  });
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
    const before = await existingConnection(sql, key);
    const settings = await changedSettings(before, flags);
    if (settings) changes.settings = settings;
    if (Object.keys(changes).length === 0) command.error('error: nothing to change, see --help');
    if (flags.keepLinks) changes.keepsLinks = true;
    const result = await confirmIfNeeded(`This changes connection ${key}`, flags, (isAgreed) =>
      changeConnection({ sql, keys }, key, changes, byOperator(), isAgreed),
    );
    if (result.kind === 'notFound') throw failure(`There is no connection ${key}.`);
    if (result.kind === 'providerTaken') throw takenFailure(result);
    if (flags.json)
      return printJson({
        ...publicView(await existingConnection(sql, key), config),
        ...(result.kind === 'changed' && { sessionsEnded: result.sessionsEnded, usersUnlinked: result.usersUnlinked }),
      });
    if (result.kind === 'unchanged') return printLine(`Connection ${key} already has these settings.`);
    printLine(`Connection ${key} changed.\n${stepsInWords(result.steps)}`);
  });
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
  if (connection.protocol === 'oidc') {
    if (isSamlChange) throw failure(`${connection.key} uses OpenID Connect; that option is for SAML.`);
    if (!isOidcChange) return null;
    const needsSecret = clientAuth !== undefined && clientAuth !== 'private-key';
    if (needsSecret && connection.sealedSecret === null && !flags.clientSecretStdin)
      throw failure('--client-auth: there is no client secret yet; pipe it in with --client-secret-stdin.');
    return {
      ...connection.settings,
      ...(issuer !== undefined && { issuer: accepted(readProviderUrl('--issuer', issuer)) }),
      ...(clientId !== undefined && { clientId: accepted(readProviderValue('--client-id', clientId)) }),
      ...(clientAuth && { clientAuthentication: clientAuthenticationOf(clientAuth) }),
      ...(scope && { scopes: scope.map((text) => accepted(readProviderValue('--scope', text))) }),
    };
  }
  if (isOidcChange) throw failure(`${connection.key} uses SAML; that option is for OpenID Connect.`);
  if (!isSamlChange) return null;
  return {
    ...connection.settings,
    ...(metadata !== undefined && (await samlSettingsOf(metadata, networks))),
    ...(idpInitiated && { mayBegin: idpInitiated === 'on' }),
    ...(requireEncryption && { wantsEncryption: requireEncryption === 'on' }),
  };
}
