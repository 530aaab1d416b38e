import type { Command } from 'commander';
import type { Config } from '../config/config.ts';
import { readShortName } from '../names/read-name.ts';
import { addConnection, type ConnectionToAdd } from '../single-sign-on/add-connection.ts';
import { entityId, publicAddress, redirectUri } from '../single-sign-on/addresses.ts';
import { doubtsAbout } from '../single-sign-on/connection-doubts.ts';
import { readProviderUrl, readProviderValue } from '../single-sign-on/read-connection.ts';
import { findCustomer } from '../storage/customer.ts';
import { listSsoConnections, type SsoConnection } from '../storage/sso-connection.ts';
import type { ProtocolSettings } from '../storage/sso-settings.ts';
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
import { failure } from './failure.ts';
import { repeatable } from './options.ts';
import { printFacts, printJson, printLine, printWarning } from './print.ts';
import { samlSettingsOf } from './read-metadata-argument.ts';
import { accepted } from './read-values.ts';
import { publicView } from './show-connection.ts';
import { withKeys } from './with-keys.ts';

type OidcFlags = ConnectionFlags & {
  customer: string;
  issuer: string;
  clientId: string;
  privateKey?: true;
  clientAuth?: ClientAuthFlag;
  scope?: string[];
};
type SamlFlags = ConnectionFlags & {
  customer: string;
  metadata: string;
  idpInitiated?: true;
  requireEncryption?: true;
};

/** `vestibule connection add oidc` and `vestibule connection add saml` */
export function addConnectionAddCommands(connection: Command): void {
  const add = connection.command('add').description('add a connection, then print what its provider needs');
  addSecretFlags(addConnectionFlags(addOidcCommand(add))).action(runOidc);
  addConnectionFlags(addSamlCommand(add)).action(runSaml);
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
    .option('--private-key', 'the same as --client-auth private-key')
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
  const clientAuthentication = flags.privateKey ? 'privateKey' : clientAuthenticationOf(flags.clientAuth);
  const isKey = clientAuthentication === 'privateKey';
  const settings = {
    issuer: accepted(readProviderUrl('--issuer', flags.issuer)),
    clientId: accepted(readProviderValue('--client-id', flags.clientId)),
    clientAuthentication,
    scopes: (flags.scope ?? ['email', 'profile']).map((text) => accepted(readProviderValue('--scope', text))),
    ...maxAuthenticationAge(flags),
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
    ...maxAuthenticationAge(flags),
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
    const result = await addConnection({ sql, keys }, made, new Date());
    if (result.kind === 'taken') throw failure(`key: connection ${key} already exists.`);
    if (result.kind === 'providerTaken') throw failure(providerTaken(result.by));
    if (result.kind === 'logoutAddressTaken') throw failure(logoutAddressTaken(result.by));
    if (result.kind === 'unknownCustomer') throw failure(`--customer: there is no customer ${flags.customer}.`);
    const connections = await listSsoConnections(sql);
    const stored = connections.find((connection) => connection.key === key);
    if (!stored) throw failure(`There is no connection ${key}.`);
    for (const doubt of doubtsAbout(key, connections)) printWarning(`Warning: ${doubt}.`);
    if (flags.json) return printJson(publicView(stored, config));
    printLine(`Connection ${key} added. Register at the provider:`);
    printFacts(whatTheProviderNeeds(config, stored));
    printWarning(`Then try it: vestibule connection test ${key}`);
  });
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
