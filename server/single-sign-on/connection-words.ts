import { certificateFacts, logoutWords } from './saml/provider-metadata.ts';
import type { SamlSettings, SsoConnection } from './sso-connection.ts';

/** A connection as an operator reads it, without secrets. */
export function wordsOfConnection(connection: SsoConnection): [string, string][] {
  const { attributes } = connection;
  const { signOnBinding, logout, ...settings } = connection.settings as Partial<SamlSettings>;
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
    ['provider networks', connection.providerNetworks.join(', ') || 'public ones only'],
    ...(connection.protocol === 'saml' ? samlWords : []),
    ['secret expires', connection.secretEndsAt?.toISOString().slice(0, 10) ?? 'not known'],
    ...Object.entries(settings).map(([name, value]): [string, string] => [
      wordsOfSetting[name] ?? name,
      Array.isArray(value) ? value.map(wordOf).join(' ') : String(value ?? 'none'),
    ]),
  ];
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
