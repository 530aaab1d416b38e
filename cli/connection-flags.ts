import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import type { Config } from '#server/config/config.ts';
import type { Database } from '#server/database/database.ts';
import { openConversation, ProviderFailure } from '#server/http/provider-fetch.ts';
import { readNetwork } from '#server/names/network.ts';
import { type Reading, readCustomerName } from '#server/names/read-name.ts';
import { entityId, publicAddress, redirectUri } from '#server/single-sign-on/addresses.ts';
import type { ChangeOfConnection } from '#server/single-sign-on/change-connection.ts';
import { readSamlMetadata, type SamlMetadata } from '#server/single-sign-on/saml/provider-metadata.ts';
import {
  type Attributes,
  type ClientAuthentication,
  findSsoConnectionByKey,
  type SamlSettings,
  type SsoConnection,
} from '#server/single-sign-on/sso-connection.ts';
import { readStdin } from './ask.ts';
import { accepted, type JsonFlag, type OnOff, onOff, repeatable } from './options.ts';
import { failure, printWarning } from './print.ts';
import { readDomain, readMaxAuthenticationAge, readProviderValue } from './read-connection.ts';

/** How the portal authenticates, in the words of the option. */
const clientAuths = { basic: 'basic', post: 'post', 'private-key': 'privateKey' } as const;
export type ClientAuthFlag = keyof typeof clientAuths;

export const clientAuthOption = () =>
  new Option(
    '--client-auth <way>',
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
  maxAuthenticationAge?: string;
  secretEnds?: string;
  clientSecretStdin?: true;
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
    .addOption(repeatable('--map <what=name>', 'claim or attribute for email, username or language; may be repeated'))
    .option(
      '--max-authentication-age <time>',
      'maximum age of the sign-in at the provider, such as 30m, 12h or 7d; "off" for no limit',
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

/** The maximum in seconds, null for none; absent if the flag was not given. */
export function maxAuthenticationAge({ maxAuthenticationAge: text }: ConnectionFlags): {
  maxAuthenticationAge?: number | null;
} {
  return text === undefined ? {} : { maxAuthenticationAge: accepted(readMaxAuthenticationAge(text)) };
}

/** The networks of `--provider-network`; `none` for none. */
export function networksOf(texts: readonly string[]): string[] {
  if (texts.length === 1 && texts[0] === 'none') return [];
  return texts.map((text) => {
    const reading = readNetwork(text);
    if (reading.kind === 'ok') return reading.value;
    throw failure(`${reading.problem.replace(/^network/, '--provider-network')}.`);
  });
}

function readAttributes(texts: readonly string[]): Reading<Attributes> {
  const attributes: Attributes = {};
  for (const text of texts) {
    const [, what, name] = /^(email|username|language)=([\x21-\x7e]{1,200})$/.exec(text) ?? [];
    if (!what || !name)
      return {
        kind: 'refused',
        problem: `--map: ${JSON.stringify(text)} is not like email=mail, username=uid or language=locale`,
      };
    attributes[what as keyof Attributes] = name;
  }
  return { kind: 'ok', value: attributes };
}

function readDay(text: string): Reading<Date> {
  const day = new Date(`${text}T00:00:00Z`);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day.getTime());
  if (isDay && day.getTime() < Date.now()) printWarning(`Warning: --secret-ends ${text} is past.`);
  if (isDay) return { kind: 'ok', value: day };
  return { kind: 'refused', problem: `--secret-ends: ${JSON.stringify(text)} is not a day such as 2027-01-31` };
}

/** Why another connection is in the way of a new or changed one. */
export function takenFailure({ kind, by }: { kind: 'providerTaken' | 'logoutAddressTaken'; by: string }): Error {
  return failure(
    kind === 'providerTaken'
      ? `--idp-initiated: connection ${by} already allows sign-ins that start at this provider; its answer would not say which one is meant.`
      : `--metadata: this provider and that of connection ${by} name one address for single logout, where each would receive what the portal signs for the other: ask both providers.`,
  );
}

/** The client secret from standard input, or undefined if not requested. */
export async function clientSecretOf({ clientSecretStdin }: ConnectionFlags): Promise<string | undefined> {
  if (!clientSecretStdin) return undefined;
  const secret = (await readStdin('client secret')).trim();
  if (/^[\x20-\x7e]{1,1000}$/.test(secret)) return secret;
  throw failure('--client-secret-stdin: standard input holds no secret of visible ASCII characters.');
}

/** A provider's metadata, from the file or address that an option names. Throws a failure with the reason. */
export async function samlSettingsOf(
  argument: string,
  networks: readonly string[],
): Promise<SamlMetadata & Pick<SamlSettings, 'metadataUrl'>> {
  const metadataUrl = /^https?:\/\//.test(argument) ? argument : null;
  const text = await (metadataUrl === null ? textOfFile(argument) : textAt(metadataUrl, networks));
  const reading = readSamlMetadata(text, { now: new Date() });
  if (reading.kind === 'refused') throw failure(`--metadata: ${reading.problem}.`);
  for (const warning of reading.warnings) printWarning(`Warning: ${warning}.`);
  return { ...reading.settings, metadataUrl };
}

async function textOfFile(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw failure(`--metadata: ${path} cannot be read (${error.code}).`);
  });
}

async function textAt(url: string, networks: readonly string[]): Promise<string> {
  try {
    return await (await openConversation(networks).read(url)).text();
  } catch (error) {
    if (error instanceof ProviderFailure) throw failure(`--metadata: ${error.message}.`);
    throw error;
  }
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
