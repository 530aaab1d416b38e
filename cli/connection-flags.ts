import { type Command, Option } from 'commander';
import type { Config } from '#server/config/config.ts';
import type { Database } from '#server/database/database.ts';
import { readCustomerName } from '#server/names/read-name.ts';
import { entityId, publicAddress, redirectUri } from '#server/single-sign-on/addresses.ts';
import type { ChangeOfConnection } from '#server/single-sign-on/change-connection.ts';
import {
  type ClientAuthentication,
  findSsoConnectionByKey,
  type SsoConnection,
} from '#server/single-sign-on/sso-connection.ts';
import { readStdin } from './ask.ts';
import { accepted, type JsonFlag, type OnOff, onOff, repeatable } from './options.ts';
import { failure } from './print.ts';
import { networksOf, readAttributes, readDay, readDomain, readProviderValue } from './read-connection.ts';

/** How the portal authenticates, in the words of the option. */
const clientAuths = { basic: 'basic', post: 'post', 'private-key': 'privateKey' } as const;
type ClientAuthFlag = keyof typeof clientAuths;

export const clientAuthOption = () =>
  new Option(
    '--client-auth <method>',
    'OpenID Connect: send the client secret in the header or the body, or sign with the portal key (default: as announced)',
  ).choices(Object.keys(clientAuths));

export function clientAuthenticationOf(flag: ClientAuthFlag | undefined): ClientAuthentication {
  return flag ? clientAuths[flag] : 'secret';
}

/** Options common to `connection add` and `connection set`. */
export type ConnectionFlags = JsonFlag & {
  name?: string;
  domain?: string[];
  jit?: OnOff;
  trustEmail?: OnOff;
  required?: OnOff;
  /** False: the list is emptied. */
  secondFactor?: string[] | false;
  providerNetwork?: string[];
  map?: string[];
  secretEnds?: string;
  clientSecretStdin?: true;
};

export type OidcFlags = ConnectionFlags & {
  customer: string;
  issuer: string;
  clientId: string;
  clientAuth?: ClientAuthFlag;
  scope?: string[];
};
export type SamlFlags = ConnectionFlags & {
  customer: string;
  metadata: string;
  idpInitiated?: true;
  requireEncryption?: true;
};
export type SetFlags = ConnectionFlags & {
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

/** The flags of both protocols. */
export function addConnectionFlags(command: Command): Command {
  return command
    .option('--name <name>', 'display name where people have to choose (default: that of the customer)')
    .addOption(repeatable('--domain <domain>', 'email domain that it vouches for; may be repeated'))
    .addOption(onOff('--jit', 'create unknown users at their first sign-in'))
    .addOption(onOff('--trust-email', 'treat its email addresses as verified even if it does not say so'))
    .addOption(onOff('--required', 'its domains cannot sign in by password'))
    .addOption(
      repeatable(
        '--second-factor <value>',
        'acr, amr or AuthnContextClassRef that counts as a second factor; may be repeated',
      ),
    )
    .addOption(
      repeatable(
        '--provider-network <cidr>',
        'non-public network that the provider may be in, such as 10.1.0.0/16; may be repeated; "none" for public ones only',
      ),
    )
    .addOption(
      repeatable(
        '--map <what=name>',
        'claim or attribute for email, username, name, groups or language, such as name=displayName,groups=memberOf; may be repeated',
      ),
    )
    .option('--json', 'print the connection as JSON');
}

export function addSecretFlags(command: Command): Command {
  return command
    .option('--client-secret-stdin', 'read the client secret from standard input')
    .option('--secret-ends <date>', 'day on which the client secret expires, such as 2027-01-31');
}

/** The values of the shared flags; absent means not given. */
export function connectionChanges(flags: ConnectionFlags): ChangeOfConnection {
  const { name, domain, jit, trustEmail, required, secondFactor, providerNetwork, map, secretEnds } = flags;
  return {
    ...(name !== undefined && { name: accepted(readCustomerName(name)) }),
    ...(domain && { domains: domain.map((text) => accepted(readDomain(text))) }),
    ...(jit && { makesUsers: jit === 'on' }),
    ...(trustEmail && { trustsEmail: trustEmail === 'on' }),
    ...(required && { required: required === 'on' }),
    ...(secondFactor !== undefined && {
      secondFactorValues: (secondFactor || []).map((text) => accepted(readProviderValue('--second-factor', text))),
    }),
    ...(providerNetwork && { providerNetworks: networksOf(providerNetwork) }),
    ...(map && { attributes: accepted(readAttributes(map)) }),
    ...(secretEnds !== undefined && { secretEndsAt: accepted(readDay(secretEnds)) }),
  };
}

/** Why the provider of a connection may not begin. */
export function takenFailure({ by }: { by: string }): Error {
  return failure(
    `--idp-initiated: connection ${by} already allows sign-ins that start at this provider; its answer would not say which one is meant.`,
  );
}

/** The client secret from standard input, or undefined if not requested. */
export async function clientSecretOf({ clientSecretStdin }: ConnectionFlags): Promise<string | undefined> {
  if (!clientSecretStdin) return undefined;
  const secret = (await readStdin('client secret')).trim();
  if (/^[\x20-\x7e]{1,1000}$/.test(secret)) return secret;
  throw failure('--client-secret-stdin: standard input holds no secret of visible ASCII characters.');
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
