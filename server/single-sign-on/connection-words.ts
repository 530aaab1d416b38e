import { day, hour, minute } from '../limits.ts';
import { certificateFacts, logoutWords } from './saml/provider-metadata.ts';
import type { SamlSettings, SsoConnection } from './sso-connection.ts';

/** A connection as an operator reads it, without secrets. */
export function wordsOfConnection(connection: SsoConnection): [string, string][] {
  const { attributes } = connection;
  const { maxAuthenticationAge, ...all } = connection.settings;
  const { signOnBinding, logout, ...settings } = all as Partial<SamlSettings>;
  const samlWords: [string, string][] = [
    ['requests are sent by', signOnBinding ?? 'redirect'],
    ['single logout', logoutWords(logout)],
  ];
  const onOff = (value: boolean) => (value ? 'on' : 'off');
  return [
    ['name', connection.name],
    ['active', connection.active ? 'yes' : 'no'],
    ['domains', connection.domains.join(', ')],
    ['required', onOff(connection.required)],
    ['makes users', onOff(connection.makesUsers)],
    ['trusts email', onOff(connection.trustsEmail)],
    ['counts as second factor', connection.secondFactorValues.join(', ') || 'nothing'],
    [
      'attributes',
      Object.entries(attributes)
        .map(([what, name]) => `${what}=${name}`)
        .join(', ') || 'usual',
    ],
    ['maximum age of a sign-in', wordOfAge(maxAuthenticationAge ?? null)],
    ['provider networks', connection.providerNetworks.join(', ') || 'public ones only'],
    ...(connection.protocol === 'saml' ? samlWords : []),
    ['secret expires', connection.secretEndsAt?.toISOString().slice(0, 10) ?? 'not known'],
    ...Object.entries(settings).map(([name, value]): [string, string] => [
      wordsOfSetting[name] ?? name,
      Array.isArray(value) ? value.map(wordOf).join(' ') : String(value ?? 'none'),
    ]),
  ];
}

/** As the command line takes it. */
function wordOfAge(seconds: number | null): string {
  if (seconds === null) return 'none';
  const units: [number, string][] = [
    [day / 1000, 'd'],
    [hour / 1000, 'h'],
    [minute / 1000, 'm'],
  ];
  const [size, unit] = units.find(([size]) => seconds % size === 0) ?? [1, 's'];
  return `${seconds / size}${unit}`;
}

/** A certificate as the start of its fingerprint, enough to distinguish it; other text unchanged. */
function wordOf(text: string): string {
  return certificateFacts(text)?.fingerprint.slice(0, 23) ?? text;
}

const wordsOfSetting: Record<string, string> = {
  clientId: 'client id',
  clientAuthentication: 'client authentication',
  entityId: 'entity id',
  signOnUrl: 'sign-on address',
  metadataUrl: 'metadata address',
  mayBegin: 'provider may begin',
  wantsEncryption: 'wants encryption',
};

/**
 * Settings that are allowed but hardly intended, in words for the operator: names that visitors cannot distinguish,
 * public email domains, domains where nobody can sign in. Disabled connections are ignored, as nobody can choose them.
 */
export function doubtsOf(connections: readonly SsoConnection[]): string[] {
  const active = connections.filter((connection) => connection.active);
  return [...lookAlikes(active), ...publicDomains(active), ...lockedDomains(connections)];
}

/** The doubts that concern one of the connections. */
export function doubtsAbout(key: string, connections: readonly SsoConnection[]): string[] {
  const without = new Set(doubtsOf(connections.filter((connection) => connection.key !== key)));
  return doubtsOf(connections).filter((doubt) => !without.has(doubt));
}

function lookAlikes(connections: readonly SsoConnection[]): string[] {
  return pairsOf(connections).flatMap(([one, other]) => {
    const shared = one.domains.filter((domain) => other.domains.includes(domain));
    if (shared.length === 0 || asSeen(one.name) !== asSeen(other.name)) return [];
    return [
      `people of ${shared.join(', ')} cannot tell connections ${one.key} and ${other.key} apart, both are called ` +
        `${JSON.stringify(one.name)} – vestibule connection set ${other.key} --name <name>`,
    ];
  });
}

/** A name without differences that are easily overlooked: case and repeated spaces. */
function asSeen(name: string): string {
  return name.normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase();
}

/** Domains where anyone can get an address: international, then by country. */
const publicMailDomains = `
  gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com ymail.com icloud.com me.com
  mac.com aol.com proton.me protonmail.com pm.me mail.com zoho.com fastmail.com hey.com tutanota.com tuta.com
  yandex.com mail.ru
  hotmail.co.uk live.co.uk yahoo.co.uk btinternet.com
  gmx.de gmx.net gmx.com gmx.at gmx.ch web.de t-online.de freenet.de mail.de posteo.de mailbox.org outlook.de
  hotmail.de live.de yahoo.de 1und1.de arcor.de bluewin.ch aon.at
  hotmail.es outlook.es yahoo.es terra.es telefonica.net
  wp.pl o2.pl tlen.pl onet.pl onet.eu op.pl vp.pl poczta.onet.pl interia.pl interia.eu poczta.fm gazeta.pl
  ziggo.nl kpnmail.nl planet.nl hetnet.nl xs4all.nl home.nl hotmail.nl live.nl outlook.nl
  libero.it virgilio.it tiscali.it alice.it tim.it tin.it hotmail.it live.it outlook.it yahoo.it
  orange.fr wanadoo.fr free.fr laposte.net sfr.fr hotmail.fr live.fr outlook.fr yahoo.fr
`
  .trim()
  .split(/\s+/);

function publicDomains(connections: readonly SsoConnection[]): string[] {
  return connections.flatMap(({ key, domains }) => {
    const found = domains.filter((domain) => publicMailDomains.includes(domain));
    if (found.length === 0) return [];
    return [
      `connection ${key} vouches for ${found.join(', ')}, where anyone can have an address – ` +
        `vestibule connection set ${key} --domain <domain> limits it to its own domains`,
    ];
  });
}

function lockedDomains(connections: readonly SsoConnection[]): string[] {
  const required = new Set(connections.filter((one) => one.required).flatMap(({ domains }) => domains));
  const usable = new Set(connections.filter((one) => one.active).flatMap(({ domains }) => domains));
  const locked = [...required].filter((domain) => !usable.has(domain)).sort();
  if (locked.length === 0) return [];
  return [
    `nobody in ${locked.join(', ')} can sign in: single sign-on is required there but disabled – ` +
      'vestibule connection set <key> --enable, or --required off',
  ];
}

function pairsOf<T>(items: readonly T[]): [T, T][] {
  return items.flatMap((one, index) => items.slice(index + 1).map((other): [T, T] => [one, other]));
}
