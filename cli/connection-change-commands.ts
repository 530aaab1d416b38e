import type { Command } from 'commander';
import type { Config } from '#server/config/config.ts';
import type { Database } from '#server/database/database.ts';
import { readShortName } from '#server/names/read-name.ts';
import { findCustomer } from '#server/people/customer.ts';
import { entityId, publicAddress, redirectUri } from '#server/single-sign-on/addresses.ts';
import { addConnection, type ConnectionToAdd, changeConnection } from '#server/single-sign-on/change-connection.ts';
import { findSsoConnectionByKey, type SsoConnection } from '#server/single-sign-on/sso-connection.ts';
import { confirmIfNeeded, yesFlag } from './confirm.ts';
import {
  type ConnectionFlags,
  clientSecretOf,
  commonOptions,
  connectionChanges,
  oidcChanges,
  oidcOptions,
  samlChanges,
  samlOptions,
} from './connection-flags.ts';
import { accepted, activeOptions, withOptions } from './options.ts';
import { type Answer, factsOf, failure, stepsInWords } from './print.ts';
import { byOperator, type Keyed, onKeys } from './with-database.ts';

/** `vestibule connection add oidc`, `add saml` and `set` */
export function addConnectionChangeCommands(connection: Command): void {
  const add = connection.command('add').description('add a connection, then print what its provider needs');
  const oidc = addCommand(add, 'oidc', 'by OpenID Connect').addHelpText(
    'after',
    '\nExample:\n  vestibule connection add oidc acme-entra --customer acme --domain acme.example \\\n    --issuer https://login.microsoftonline.com/TENANT/v2.0 --client-id 1234 --client-secret-stdin < secret.txt\n\ndocs/single-sign-on.md covers Entra ID, Okta, Google Workspace and Keycloak.',
  );
  withOptions(oidc, [...oidcOptions(true), ...commonOptions()]).action(onKeys(runOidc));
  const saml = addCommand(add, 'saml', 'by SAML 2.0').addHelpText(
    'after',
    '\nSAML cannot say that an address is verified: --trust-email is on by default.\n\nExample:\n  vestibule connection add saml acme-adfs --customer acme --domain acme.example --metadata metadata.xml',
  );
  withOptions(saml, [...samlOptions(true), ...commonOptions()]).action(onKeys(runSaml));
  const set = connection
    .command('set <key>')
    .description('change a connection; unspecified options stay unchanged, lists are replaced')
    .option('--keep-links', 'with another issuer or entity ID, or fewer domains: its users stay linked and signed in')
    .option('--no-second-factor', 'no longer accept a second factor from the provider')
    .option(...yesFlag)
    .action(onKeys(runSet));
  const active = activeOptions(
    ['--enable', 'enable sign-in through it again; ended sessions stay ended'],
    ['--disable', 'end its sessions and sign-in through it; where it is required, its domains cannot sign in at all'],
  );
  withOptions(set, [...active, ...commonOptions()]);
  withOptions(set, oidcOptions(false), 'OpenID Connect:');
  withOptions(set, samlOptions(false), 'SAML:');
}

function addCommand(add: Command, protocol: string, description: string): Command {
  return add
    .command(protocol)
    .argument('<key>', 'short name of lower-case letters, digits and dashes')
    .description(description)
    .requiredOption('--customer <key>', 'the customer whose users sign in through it');
}

async function runOidc(keyed: Keyed, key: string, flags: ConnectionFlags): Promise<Answer> {
  const usual = { clientAuthentication: 'secret', scopes: ['email', 'profile'] };
  const settings = { ...usual, ...oidcChanges(flags) };
  const secret = (await clientSecretOf(flags)) ?? null;
  if (settings.clientAuthentication !== 'privateKey' && secret === null)
    throw failure('client secret: pipe it in with --client-secret-stdin, or use --client-auth private-key.');
  return await add(keyed, key, flags, { protocol: 'oidc', settings, secret, trustsEmail: false });
}

async function runSaml(keyed: Keyed, key: string, flags: ConnectionFlags): Promise<Answer> {
  const settings = { mayBegin: false, wantsEncryption: false, ...(await samlChanges(flags)) };
  return await add(keyed, key, flags, { protocol: 'saml', settings, secret: null, trustsEmail: true });
}

type Usual = Pick<ConnectionToAdd, 'protocol' | 'secret' | 'trustsEmail'> & { settings: object };

async function add(
  { sql, keys, config }: Keyed,
  keyText: string,
  flags: ConnectionFlags,
  usual: Usual,
): Promise<Answer> {
  const key = accepted(readShortName(keyText));
  const { domains = [], ...given } = connectionChanges(flags);
  if (domains.length === 0) throw failure('--domain: name at least one email domain.');
  const customer = await findCustomer(sql, flags.customer);
  const made = {
    key,
    name: customer?.name ?? key,
    customerKey: flags.customer,
    required: false,
    makesUsers: false,
    secondFactorValues: [],
    attributes: {},
    domains,
    secretEndsAt: null,
    providerNetworks: [],
    ...usual,
    ...given,
  } as ConnectionToAdd;
  const result = await addConnection({ sql, keys }, made, byOperator());
  if (result.kind === 'taken') throw failure(`key: connection ${key} already exists.`);
  if (result.kind === 'unknownCustomer') throw failure(`--customer: there is no customer ${flags.customer}.`);
  const stored = await existingConnection(sql, key);
  return {
    value: publicView(stored, config),
    words: `Connection ${key} added. Register at the provider:\n${factsOf(whatTheProviderNeeds(config, stored))}`,
    warnings: [`Then try it: vestibule connection test ${key}`],
  };
}

async function runSet(keyed: Keyed, key: string, flags: ConnectionFlags, command: Command): Promise<Answer> {
  const { sql, keys, config } = keyed;
  const secret = await clientSecretOf(flags);
  const settings = await changedSettings(await existingConnection(sql, key), flags);
  const changes = {
    ...connectionChanges(flags),
    ...(secret !== undefined && { secret }),
    ...(settings && { settings }),
  };
  if (Object.keys(changes).length === 0) command.error('error: nothing to change, see --help');
  const change = { ...changes, keepsLinks: flags.keepLinks === true };
  const result = await confirmIfNeeded(`This changes connection ${key}`, flags, (isAgreed) =>
    changeConnection({ sql, keys }, key, change, byOperator(), isAgreed),
  );
  if (result.kind === 'notFound') throw failure(`There is no connection ${key}.`);
  const value = publicView(await existingConnection(sql, key), config);
  if (result.kind === 'unchanged') return { value, words: `Connection ${key} already has these settings.` };
  const { sessionsEnded, usersUnlinked, steps } = result;
  const words = `Connection ${key} changed.\n${stepsInWords(steps)}`;
  return { value: { ...value, sessionsEnded, usersUnlinked }, words };
}

const ownFlags = {
  oidc: ['issuer', 'clientId', 'clientAuth', 'scope', 'clientSecretStdin'],
  saml: ['metadata', 'idpInitiated', 'requireEncryption'],
} as const;

/** The protocol's settings with the flags applied, or null if they change none. */
async function changedSettings(connection: SsoConnection, flags: ConnectionFlags) {
  const { key, protocol, settings, sealedSecret, providerNetworks } = connection;
  const isOidc = protocol === 'oidc';
  if (ownFlags[isOidc ? 'saml' : 'oidc'].some((name) => flags[name] !== undefined))
    throw failure(
      `${key} uses ${isOidc ? 'OpenID Connect' : 'SAML'}; that option is for ${isOidc ? 'SAML' : 'OpenID Connect'}.`,
    );
  const changes = isOidc ? oidcChanges(flags) : await samlChanges(flags, providerNetworks);
  const needsSecret = flags.clientAuth !== undefined && flags.clientAuth !== 'private-key';
  if (needsSecret && sealedSecret === null && !flags.clientSecretStdin)
    throw failure('--client-auth: there is no client secret yet; pipe it in with --client-secret-stdin.');
  return Object.keys(changes).length === 0 ? null : ({ ...settings, ...changes } as SsoConnection['settings']);
}

/** The connection with a key. Throws a failure if there is none. */
export async function existingConnection(sql: Database, key: string): Promise<SsoConnection> {
  const found = await findSsoConnectionByKey(sql, key);
  if (!found) throw failure(`There is no connection ${key}.`);
  return found;
}

/** A connection as JSON shows it: without its sealed secret. */
export function publicView(stored: SsoConnection, config: Config) {
  const { sealedSecret, id: _, customerId: __, ...connection } = stored;
  const address = stored.protocol === 'oidc' ? redirectUri(config, stored) : null;
  return { ...connection, hasSecret: sealedSecret !== null, ...(address && { redirectUri: address }) };
}

/** The values for the provider's own forms. */
export function whatTheProviderNeeds(config: Config, connection: SsoConnection): [string, string][] {
  const { key, protocol } = connection;
  if (protocol === 'oidc')
    return [
      ['  Redirect URI', redirectUri(config, connection)],
      ['  Sign-out redirect URI', `${config.publicUrl.origin}${config.basePath}/login`],
      ['  Back-channel logout, if supported', `${publicAddress(config, 'oidcBackchannelLogout')}/${key}`],
      ['  JWKS, with private-key', publicAddress(config, 'oidcKeys')],
    ];
  return [
    ['  Metadata', publicAddress(config, 'samlMetadata')],
    ['  Entity ID', entityId(config)],
    ['  Reply address (ACS), by POST', publicAddress(config, 'samlAnswer')],
    ['  Single logout', publicAddress(config, 'samlLogout')],
  ];
}
