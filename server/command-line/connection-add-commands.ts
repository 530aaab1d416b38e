import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { addConnection, type ConnectionToAdd } from '../single-sign-on/add-connection.ts';
import { entityId, publicAddress } from '../single-sign-on/addresses.ts';
import { readConnectionKey, readProviderUrl, readProviderValue } from '../single-sign-on/read-connection.ts';
import type { ProtocolSettings } from '../single-sign-on/settings.ts';
import { findCustomer } from '../storage/customer.ts';
import { findSsoConnectionByKey } from '../storage/sso-connection.ts';
import {
  addConnectionFlags,
  addSecretFlags,
  type ConnectionFlags,
  clientSecretOf,
  connectionChanges,
  providerTaken,
  repeatable,
} from './connection-flags.ts';
import { failure } from './failure.ts';
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
  const add = connection.command('add').description('add a connection; say then what the provider has to know');
  addSecretFlags(addConnectionFlags(addOidcCommand(add))).action(runOidc);
  addConnectionFlags(addSamlCommand(add)).action(runSaml);
}

function addOidcCommand(add: Command): Command {
  return add
    .command('oidc')
    .argument('<key>', 'short name in lower-case letters, digits and dashes')
    .description('by OpenID Connect')
    .requiredOption('--customer <key>', 'the customer whose people sign in by it')
    .requiredOption('--issuer <url>', "the provider's issuer, exactly as its discovery document writes it")
    .requiredOption('--client-id <id>', 'the id by which the provider knows the portal')
    .option('--private-key', 'prove who the portal is by its own key (private_key_jwt) instead of a client secret')
    .addOption(
      repeatable('--scope <scope>', 'scope to ask for besides openid; may be repeated (default: email, profile)'),
    )
    .addHelpText(
      'after',
      '\nExample:\n  vestibule connection add oidc acme-entra --customer acme --domain acme.example \\\n    --issuer https://login.microsoftonline.com/TENANT/v2.0 --client-id 1234 --client-secret-stdin < secret.txt\n\ndocs/single-sign-on.md goes through Entra ID, Okta, Google Workspace and Keycloak.',
    );
}

function addSamlCommand(add: Command): Command {
  return add
    .command('saml')
    .argument('<key>', 'short name in lower-case letters, digits and dashes')
    .description('by SAML 2.0')
    .requiredOption('--customer <key>', 'the customer whose people sign in by it')
    .requiredOption('--metadata <file-or-url>', "the provider's metadata")
    .option('--idp-initiated', 'let the provider begin by itself, from its own page of applications')
    .option('--require-encryption', 'refuse assertions that are not encrypted')
    .addHelpText(
      'after',
      '\nSAML has no word for a verified address: --trust-email is on unless you say off.\n\nExample:\n  vestibule connection add saml acme-adfs --customer acme --domain acme.example --metadata metadata.xml',
    );
}

async function runOidc(key: string, flags: OidcFlags): Promise<void> {
  const settings = {
    issuer: accepted(readProviderUrl('--issuer', flags.issuer)),
    clientId: accepted(readProviderValue('--client-id', flags.clientId)),
    clientAuthentication: flags.privateKey ? ('privateKey' as const) : ('secret' as const),
    scopes: (flags.scope ?? ['email', 'profile']).map((text) => accepted(readProviderValue('--scope', text))),
  };
  const secret = (await clientSecretOf(flags)) ?? null;
  if (!flags.privateKey && secret === null)
    throw failure('refused', 'client secret: pipe it in with --client-secret-stdin, or use --private-key.');
  await add(key, flags, { protocol: 'oidc', settings }, { secret, trustsEmail: false });
}

async function runSaml(key: string, flags: SamlFlags): Promise<void> {
  const read = await samlSettingsOf(flags.metadata);
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
  const key = accepted(readConnectionKey(keyText));
  const { domains = [], ...given } = connectionChanges(flags);
  if (domains.length === 0) throw failure('refused', '--domain: name at least one e-mail domain.');
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
      ...given,
      ...protocol,
    } as ConnectionToAdd;
    const result = await addConnection({ sql, keys }, made, new Date());
    if (result.kind === 'taken') throw failure('refused', `key: there is a connection ${key} already.`);
    if (result.kind === 'providerTaken') throw failure('refused', providerTaken(result.by));
    if (result.kind === 'unknownCustomer')
      throw failure('refused', `--customer: there is no customer ${flags.customer}.`);
    const stored = await findSsoConnectionByKey(sql, key);
    if (flags.json) return printJson(stored && publicView(stored));
    printLine(`Connection ${key} added. Tell the provider:`);
    printFacts(whatTheProviderNeeds(config, { key, protocol: protocol.protocol }));
    printWarning(`Then try it: vestibule connection test ${key}`);
  });
}

/** What is typed into the provider's own forms. */
export function whatTheProviderNeeds(
  config: Config,
  { key, protocol }: { key: string; protocol: 'oidc' | 'saml' },
): [string, string][] {
  if (protocol === 'oidc')
    return [
      ['  Redirect URI', publicAddress(config, 'oidcCallback')],
      ['  Sign-out redirect URI', `${config.publicUrl.origin}${config.basePath}/login`],
      ['  Back-channel logout, if it has that', `${publicAddress(config, 'oidcBackchannelLogout')}/${key}`],
      ['  JWKS, with --private-key', publicAddress(config, 'oidcKeys')],
    ];
  return [
    ['  Metadata', publicAddress(config, 'samlMetadata')],
    ['  Entity ID', entityId(config)],
    ['  Reply address (ACS), by POST', publicAddress(config, 'samlAnswer')],
  ];
}
