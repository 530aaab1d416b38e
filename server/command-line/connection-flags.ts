import { type Command, Option } from 'commander';
import { type Reading, readCustomerName } from '../names/read-name.ts';
import { readNetwork } from '../names/read-network.ts';
import type { ChangeOfConnection } from '../single-sign-on/change-connection.ts';
import { readDomain, readMaxAuthenticationAge, readProviderValue } from '../single-sign-on/read-connection.ts';
import type { Attributes, ClientAuthentication } from '../storage/sso-settings.ts';
import { failure } from './failure.ts';
import { type OnOff, onOff, repeatable } from './options.ts';
import { printWarning } from './print.ts';
import { accepted } from './read-values.ts';

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
export type ConnectionFlags = {
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
  json?: true;
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
    return accepted(
      reading.kind === 'ok'
        ? reading
        : { kind: 'refused', problem: reading.problem.replace(/^network/, '--provider-network') },
    );
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

/** Why a second connection may not let the same provider start sign-ins. */
export function providerTaken(by: string): string {
  return `--idp-initiated: connection ${by} already allows sign-ins that start at this provider; its answer would not say which one is meant.`;
}

/** Why a provider may not use this address for single logout. */
export function logoutAddressTaken(by: string): string {
  return `--metadata: their SingleLogoutService is at an address of connection ${by}, another provider, which would receive messages that the portal signs: ask both providers.`;
}

/** The client secret from standard input, or undefined if not requested. */
export async function clientSecretOf({ clientSecretStdin }: ConnectionFlags): Promise<string | undefined> {
  if (!clientSecretStdin) return undefined;
  const { readStdin } = await import('./ask-password.ts');
  const secret = (await readStdin('client secret')).trim();
  if (/^[\x20-\x7e]{1,1000}$/.test(secret)) return secret;
  throw failure('--client-secret-stdin: standard input holds no secret of visible ASCII characters.');
}
