import { Option } from 'commander';
import { readNetwork } from '#server/names/network.ts';
import { type Reading, readDisplayName } from '#server/names/read-name.ts';
import type { ChangeOfConnection } from '#server/single-sign-on/change-connection.ts';
import type {
  Attributes,
  ClientAuthentication,
  OidcSettings,
  SamlSettings,
} from '#server/single-sign-on/sso-connection.ts';
import { readStdin } from './ask.ts';
import type { YesFlag } from './confirm.ts';
import { given, onOff, optionOf, repeatable } from './options.ts';
import { failure } from './print.ts';
import {
  readAttributes,
  readDay,
  readDomain,
  readMetadata,
  readProviderUrl,
  readProviderValue,
} from './read-connection.ts';

/** How the portal authenticates, in the words of the option. */
const clientAuths: Record<string, ClientAuthentication> = { basic: 'basic', post: 'post', 'private-key': 'privateKey' };

/** The options of `connection add oidc`, `add saml` and `set`, read. */
export type ConnectionFlags = YesFlag & {
  customer: string;
  name?: string;
  domain?: string[];
  jit?: boolean;
  trustEmail?: boolean;
  required?: boolean;
  /** False: the list is emptied. */
  secondFactor?: string[] | false;
  /** Null for `none`. */
  providerNetwork?: (string | null)[];
  map?: Attributes[];
  issuer?: string;
  clientId?: string;
  clientAuth?: string;
  scope?: string[];
  clientSecretStdin?: true;
  secretEnds?: Date;
  metadata?: string;
  idpInitiated?: boolean;
  requireEncryption?: boolean;
  isActive?: boolean;
  keepLinks?: true;
};

/** The options of both protocols. */
export const commonOptions = () => [
  optionOf('--name <name>', "display name where people have to choose (default: the customer's)", readDisplayName),
  repeatable('--domain <domain>', 'email domain that it vouches for; may be repeated', readDomain),
  onOff('--jit', 'create unknown users at their first sign-in'),
  onOff('--trust-email', 'treat its email addresses as verified even if it does not say so'),
  onOff('--required', 'its domains cannot sign in by password'),
  repeatable(
    '--second-factor <value>',
    'acr, amr or AuthnContextClassRef that counts as a second factor; may be repeated',
    readProviderValue,
  ),
  repeatable(
    '--provider-network <cidr>',
    'non-public network that the provider may be in, such as 10.1.0.0/16; may be repeated; "none" for public ones only',
    readNetworkOrNone,
  ),
  repeatable(
    '--map <what=name>',
    'claim or attribute for email, username, name, groups or language, such as name=displayName,groups=memberOf; may be repeated',
    readAttributes,
  ),
];

/** The options of OpenID Connect; `isNew` requires what a new connection needs. */
export const oidcOptions = (isNew: boolean) => [
  optionOf('--issuer <url>', 'exactly as in its discovery document', readProviderUrl).makeOptionMandatory(isNew),
  optionOf('--client-id <id>', 'client ID that the provider assigned', readProviderValue).makeOptionMandatory(isNew),
  new Option(
    '--client-auth <method>',
    'send the client secret in the header or the body, or sign with the portal key (default: as announced)',
  ).choices(Object.keys(clientAuths)),
  repeatable('--scope <scope>', 'besides openid; may be repeated (default: email, profile)', readProviderValue),
  new Option('--client-secret-stdin', 'read the client secret from standard input'),
  optionOf('--secret-ends <date>', 'day on which the client secret expires, such as 2027-01-31', readDay),
];

/** The options of SAML; `isNew` requires what a new connection needs. */
export const samlOptions = (isNew: boolean) => [
  new Option('--metadata <file-or-url>', "the provider's metadata").makeOptionMandatory(isNew),
  onOff('--idp-initiated', 'allow sign-ins that start at the provider, from its application page'),
  onOff('--require-encryption', 'refuse assertions that are not encrypted'),
];

const readNetworkOrNone = (text: string): Reading<string | null> =>
  text === 'none' ? { kind: 'ok', value: null } : readNetwork(text);

/** What the flags change of a connection, besides the settings of its protocol. */
export function connectionChanges(flags: ConnectionFlags): ChangeOfConnection {
  const { name, domain, jit, trustEmail, required, secondFactor, providerNetwork, map, secretEnds } = flags;
  return given({
    name,
    domains: domain,
    makesUsers: jit,
    trustsEmail: trustEmail,
    required,
    secondFactorValues: secondFactor === false ? [] : secondFactor,
    providerNetworks: providerNetwork && networksOf(providerNetwork),
    attributes: map && Object.assign({}, ...map),
    secretEndsAt: secretEnds,
    active: flags.isActive,
  });
}

const networksOf = (networks: readonly (string | null)[]) => networks.filter((network) => network !== null);

export function oidcChanges(flags: ConnectionFlags): Partial<OidcSettings> {
  const { issuer, clientId, clientAuth, scope: scopes } = flags;
  return given({ issuer, clientId, clientAuthentication: clientAuths[clientAuth ?? ''], scopes });
}

/** `networks`: those that the provider may be in if the flags name none. */
export async function samlChanges(flags: ConnectionFlags, networks: string[] = []): Promise<Partial<SamlSettings>> {
  const { metadata, idpInitiated, requireEncryption, providerNetwork } = flags;
  const own = given({ mayBegin: idpInitiated, wantsEncryption: requireEncryption });
  if (metadata === undefined) return own;
  return { ...(await readMetadata(metadata, providerNetwork ? networksOf(providerNetwork) : networks)), ...own };
}

/** The client secret from standard input, or undefined if not requested. */
export async function clientSecretOf({ clientSecretStdin }: ConnectionFlags): Promise<string | undefined> {
  if (!clientSecretStdin) return undefined;
  const secret = (await readStdin('client secret')).trim();
  if (/^[\x20-\x7e]{1,1000}$/.test(secret)) return secret;
  throw failure('--client-secret-stdin: standard input holds no secret of visible ASCII characters.');
}
