import { type BlockList, isIP } from 'node:net';
import { resolve } from 'node:path';
import type { DestinationRules } from '#contract/destination.ts';
import { defaultPasswordPolicy, type PasswordPolicy } from '#contract/password-rules.ts';
import { day, hour, minute } from '../limits.ts';
import { parseNetworkList } from '../names/network.ts';
import { type Reading, readEmail } from '../names/read-name.ts';
import { type Brand, placeholderLinks, readBrand } from './brand.ts';
import {
  type Hub,
  type HubAudience,
  type IdentityHeaders,
  readHub,
  readHubAudiences,
  readIdentityHeaders,
} from './hub.ts';
import { addressesOf, type RelyingParty, readPublicUrl, readRelyingParty } from './public-url.ts';
import { defaultConfigFile, readConfigFile, readEnvironment } from './read-config-file.ts';
import { readDatabaseUrl, readSmtpUrl, type SmtpServer } from './server-urls.ts';

/** All configuration, read and validated once, then passed on as a value. */
export type Config = {
  host: string;
  port: number;
  publicUrl: URL;
  /** Accepted Host headers; anything else gets 421. */
  hosts: string[];
  /** Origins that count as our own in a browser's request. */
  origins: string[];
  databaseUrl: string | null;
  dataFolder: string;
  /** Null: created and kept in the data folder. The first one seals, all open. */
  secrets: string[] | null;
  /** The token for reading the metrics; null: metrics are disabled. */
  metricsToken: string | null;
  basePath: string;
  brand: Brand;
  destinationRules: DestinationRules;
  trustedProxies: BlockList;
  identityHeaders: IdentityHeaders;
  hub: Hub | null;
  hubAudiences: HubAudience[];
  passwordPolicy: PasswordPolicy;
  /** Lengths of time, in milliseconds. */
  auditKept: number;
  sessionIdle: number;
  sessionAbsolute: number;
  /** What passkeys are made for; null if the public address is a number, which they cannot be made for. */
  passkeys: RelyingParty | null;
  /** Whether the first visit to a provider after a sign-out asks it for a fresh sign-in. */
  freshAfterSignOut: boolean;
  /** Null: emails go to the outbox folder of the data folder. */
  smtp: SmtpServer | null;
  mailFrom: string;
};

export type ConfigResult = { kind: 'ok'; config: Config } | { kind: 'refused'; problems: string[] };

/** A warning that names the links that are still placeholders, or null. */
export function placeholderWarning({ brand }: Pick<Config, 'brand'>): string | null {
  const { links } = brand.branding;
  const names = Object.entries(placeholderLinks).flatMap(([name, placeholder]) =>
    links[name as keyof typeof links] === placeholder ? [`links.${name}`] : [],
  );
  if (names.length === 0) return null;
  return `still at their placeholders: ${names.join(', ')} – set them in the configuration file`;
}

const defaultPort = 8080;
const shortestSecret = 32;

/**
 * Reads the settings from the environment and the configuration file. Returns the whole configuration,
 * or every problem found, each naming its setting.
 */
export function readConfig(environment: NodeJS.ProcessEnv): ConfigResult {
  const problems: string[] = [];
  const env = readEnvironment(environment, problems);
  const file = readConfigFile(env.VESTIBULE_CONFIG, problems);
  const basePath = file.basePath ?? '/portal';
  const brand = readBrand(file, problems);
  const host = readHost(env.HOST, problems);
  const port = readPort(env.PORT, problems);
  const publicUrl = readPublicUrl(env.PUBLIC_URL ?? `http://localhost:${port}`, problems);
  const own = addressesOf(publicUrl);
  const databaseUrl = readOptional(env.DATABASE_URL, readDatabaseUrl, problems);
  const metricsToken = readMetricsToken(env.METRICS_TOKEN, problems);
  const secrets = readSecrets(env.VESTIBULE_SECRET, databaseUrl, problems);
  const smtp = readOptional(env.SMTP_URL, readSmtpUrl, problems);
  const mailFrom = readMailFrom(file.mail?.from, publicUrl, problems);
  const passkeys = readRelyingParty(publicUrl, file.passkeys, problems);
  const trusted = parseNetworkList(file.trustedProxies ?? []);
  for (const text of trusted.invalid)
    problems.push(`trustedProxies: ${JSON.stringify(text)} is not an address or a network such as 10.0.0.0/8`);
  const allowedOrigins = readOrigins(file.allowedRedirectOrigins ?? [], problems);
  const identityHeaders = readIdentityHeaders(file.hub?.identityHeaders, problems);
  const hubAudiences = readHubAudiences(file.hub?.audiences, problems);
  const hub = readHub(file.hub, { secret: env.VESTIBULE_HUB_SECRET, basePath, audiences: hubAudiences }, problems);
  const shortest = file.passwordPolicy?.minimumLength ?? defaultPasswordPolicy.shortest;
  const idle = file.session?.idleMinutes ?? 30;
  const absolute = file.session?.absoluteHours ?? 12;
  if (idle * minute > absolute * hour)
    problems.push('session.idleMinutes: must not be longer than session.absoluteHours');
  if (problems.length > 0) {
    // Variables begin in upper case, settings of the file in lower case.
    const inFile = (problem: string) =>
      /^[a-z]/.test(problem) ? `${env.VESTIBULE_CONFIG ?? defaultConfigFile}: ` : '';
    return { kind: 'refused', problems: problems.map((problem) => inFile(problem) + problem) };
  }
  return {
    kind: 'ok',
    config: {
      host,
      port,
      publicUrl,
      hosts: [...own.map(({ host }) => host), ...(file.allowedHosts ?? []).map((host) => host.toLowerCase())],
      origins: own.map(({ origin }) => origin),
      databaseUrl,
      dataFolder: resolve(env.VESTIBULE_DATA ?? './data'),
      secrets,
      metricsToken,
      basePath,
      brand,
      destinationRules: {
        origin: publicUrl.origin,
        basePath,
        allowedOrigins,
      },
      trustedProxies: trusted.networks,
      identityHeaders,
      hub,
      hubAudiences,
      passwordPolicy: { ...defaultPasswordPolicy, shortest },
      auditKept: (file.audit?.keepDays ?? 400) * day,
      sessionIdle: idle * minute,
      sessionAbsolute: absolute * hour,
      passkeys,
      freshAfterSignOut: file.singleSignOn?.freshAfterSignOut ?? true,
      smtp,
      mailFrom,
    },
  };
}

function readHost(text: string | undefined, problems: string[]): string {
  const host = text?.replace(/^\[(.*)\]$/, '$1') ?? '127.0.0.1';
  if (!isIP(host) && !/^[a-z0-9.-]+$/i.test(host))
    problems.push(`HOST: ${JSON.stringify(text)} is not an address or a host name; 0.0.0.0 is all addresses`);
  return host;
}

function readPort(text: string | undefined, problems: string[]): number {
  if (!text) return defaultPort;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  problems.push(`PORT: ${JSON.stringify(text)} is not a port number`);
  return defaultPort;
}

/** Origins as the URL parser serializes them, since they are compared in that form. */
function readOrigins(texts: readonly string[], problems: string[]): string[] {
  return texts.flatMap((text) => {
    const url = URL.parse(text);
    if (url) return url.origin;
    problems.push(`allowedRedirectOrigins: ${JSON.stringify(text)} is not an origin such as https://hub.example.com`);
    return [];
  });
}

function readOptional<T>(text: string | undefined, read: (text: string) => Reading<T>, problems: string[]): T | null {
  if (!text) return null;
  const reading = read(text);
  if (reading.kind === 'ok') return reading.value;
  problems.push(reading.problem);
  return null;
}

function readSecrets(text: string | undefined, databaseUrl: string | null, problems: string[]): string[] | null {
  const secrets =
    text
      ?.split(',')
      .map((secret) => secret.trim())
      .filter(Boolean) ?? [];
  if (secrets.some((secret) => secret.length < shortestSecret)) {
    problems.push(
      `VESTIBULE_SECRET: each secret must have at least ${shortestSecret} characters (openssl rand -base64 32)`,
    );
  }
  if (secrets.length === 0 && databaseUrl) {
    problems.push(
      'VESTIBULE_SECRET: is required with DATABASE_URL, as every instance needs the same (openssl rand -base64 32)',
    );
  }
  return secrets.length > 0 ? secrets : null;
}

function readMailFrom(text: string | undefined, { hostname }: URL, problems: string[]): string {
  // readEmail does not accept an address with IPv6 numbers after its @.
  const reading = readEmail(text ?? `no-reply@${hostname.startsWith('[') ? 'localhost' : hostname}`);
  if (reading.kind === 'ok') return reading.value;
  problems.push(reading.problem.replace(/^email: /, 'mail.from: '));
  return '';
}

function readMetricsToken(text: string | undefined, problems: string[]): string | null {
  if (!text) return null;
  if (!/^[\x21-\x7e]{16,200}$/.test(text))
    problems.push('METRICS_TOKEN: must have 16 to 200 ASCII characters without spaces (openssl rand -base64 24)');
  return text;
}
