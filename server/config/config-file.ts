import { writeFileSync } from 'node:fs';
import type { XStatic as Static } from 'typebox/schema';
import { type Language, languages } from '#contract/languages.ts';
import { root } from './root.ts';

const link = <const Description extends string>(description: Description) =>
  ({
    type: 'string',
    pattern: '^(?:https://|mailto:|tel:)\\S+$',
    maxLength: 500,
    description,
    examples: ['https://hub.example.com/help'],
  }) as const;

const logo = <const Description extends string>(description: Description) =>
  ({
    type: 'string',
    pattern: '\\.(?:svg|png|webp|jpe?g)$',
    maxLength: 1000,
    description,
    examples: ['logo.svg'],
  }) as const;

const textsOfLanguage = {
  type: 'object',
  additionalProperties: { type: 'string', minLength: 1, maxLength: 300 },
} as const;

/** The settings of the configuration file that say how pages and emails look. */
const brandSettings = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: 64,
    pattern: '^[^\\p{Cc}\\p{Zl}\\p{Zp}\\p{Bidi_Control}]*$',
    description: 'Name of the hub, shown in header, titles and emails.',
  },
  logo: logo('Path of an SVG, PNG, WebP or JPEG file for the header.'),
  logoDark: logo('The same for dark screens (default: logo).'),
  accentColour: {
    type: 'string',
    pattern: '^#(?:[0-9a-fA-F]{3}){1,2}$',
    description: 'The colour of the pages, such as #21489c.',
    examples: ['#21489c'],
  },
  links: {
    type: 'object',
    properties: {
      support: link('Target of "Contact support".'),
      imprint: link('Target of "Legal notice".'),
      solutions: link('Target of the tagline.'),
    },
    additionalProperties: false,
  },
  texts: {
    type: 'object',
    description: 'By language, such as texts.de: your words for the keys of messages/.',
    properties: Object.fromEntries(languages.map((language) => [language, textsOfLanguage])) as Record<
      Language,
      typeof textsOfLanguage
    >,
    additionalProperties: false,
  },
} as const;

/** An object with no other settings than these. */
const only = <const Properties>(properties: Properties) =>
  ({ type: 'object', properties, additionalProperties: false }) as const;

const header = {
  type: 'string',
  pattern: '^(?:X|Remote)-[A-Za-z0-9-]+$',
  maxLength: 64,
  examples: ['X-Remote-User'],
} as const;

/** A path as it is compared: no encoding, no empty segment, no dots that lead elsewhere. */
const path = {
  type: 'string',
  pattern: '^/$|^(?:/(?!\\.+(?:/|$))[A-Za-z0-9_.~-]*[A-Za-z0-9_~-])+$',
  maxLength: 200,
  examples: ['/app'],
} as const;

/** The configuration file, `vestibule.config.json`; its JSON Schema is kept in vestibule.config.schema.json. */
export const ConfigFile = only({
  $schema: { type: 'string' },
  ...brandSettings,
  basePath: {
    type: 'string',
    pattern: '^/[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)*$',
    maxLength: 100,
    examples: ['/portal'],
    description: 'Path under which everything is served.',
    default: '/portal',
  },
  allowedHosts: {
    type: 'array',
    items: { type: 'string', pattern: '^[A-Za-z0-9.:\\[\\]-]+$', examples: ['10.0.0.5:8080'] },
    description: 'More Host headers to answer, such as 10.0.0.5:8080 from a proxy that does not pass the public one.',
  },
  allowedRedirectOrigins: {
    type: 'array',
    items: { type: 'string', pattern: '^https://[A-Za-z0-9.-]+(?::\\d+)?$', examples: ['https://hub.example.com'] },
    description: 'Other https origins that a sign-in may redirect to.',
  },
  passkeys: only({
    domain: {
      type: 'string',
      pattern: '^[a-z0-9-]+(?:\\.[a-z0-9-]+)*$',
      maxLength: 253,
      examples: ['example.com'],
      description: 'Domain of passkeys: the host of PUBLIC_URL (the default) or a parent of it.',
    },
  }),
  singleSignOn: only({
    freshAfterSignOut: {
      type: 'boolean',
      description: 'Whether to ask the provider for a fresh sign-in after a sign-out (default: true).',
    },
  }),
  trustedProxies: {
    type: 'array',
    items: { type: 'string' },
    description: 'Addresses or networks of reverse proxies whose X-Forwarded-For is trusted.',
  },
  hub: only({
    url: {
      type: 'string',
      pattern: '^https?://[^\\s]+$',
      maxLength: 300,
      examples: ['http://127.0.0.1:3000'],
      description: 'Origin of the application behind the portal.',
    },
    paths: {
      type: 'array',
      items: path,
      maxItems: 100,
      description: "Path prefixes to pass on to it, besides portal.html; / is all but the portal's own.",
    },
    publicPaths: {
      type: 'array',
      items: path,
      maxItems: 100,
      description: 'Prefixes among hub.paths that everybody may reach.',
    },
    audience: {
      type: 'string',
      maxLength: 200,
      description: 'Name of the hub.audiences entry for hub.url: each request carries its token.',
    },
    answerSeconds: {
      type: 'integer',
      minimum: 1,
      maximum: 3600,
      default: 60,
      description: 'Seconds that the application may take to begin an answer.',
    },
    identityHeaders: {
      ...only({
        ...{ user: header, email: header, name: header, customers: header, groups: header, language: header },
        token: header,
      }),
      description:
        'Names of the headers for user, email, name, customers, groups, language and token: X-… or Remote-….',
    },
    audiences: {
      type: 'array',
      maxItems: 20,
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: {
            type: 'string',
            pattern: '^[A-Za-z0-9][A-Za-z0-9:/._-]*$',
            maxLength: 200,
            examples: ['hub'],
            description: 'The audience of its tokens (aud).',
          },
          logoutUrl: {
            type: 'string',
            maxLength: 500,
            examples: ['https://hub.example.com/logout'],
            description: 'Address that gets a logout token when a session ends.',
          },
          logoutNetworks: {
            type: 'array',
            items: { type: 'string' },
            description: 'Networks besides the public ones that logoutUrl may be in, such as 10.0.0.0/8.',
          },
        },
        additionalProperties: false,
      },
      description: 'The hubs that get signed tokens.',
    },
  }),
  audit: only({
    keepDays: {
      type: 'integer',
      minimum: 1,
      maximum: 3650,
      default: 400,
      description: 'Days that audit events are kept.',
    },
  }),
  mail: only({
    from: {
      type: 'string',
      maxLength: 254,
      description: 'Sender address of emails (default: no-reply@ the public host).',
    },
  }),
  passwordPolicy: only({
    minimumLength: {
      type: 'integer',
      minimum: 7,
      maximum: 64,
      default: 7,
      description: 'Shortest new password; NIST and OWASP require 8 or 15 characters.',
    },
  }),
  session: only({
    idleMinutes: {
      type: 'integer',
      minimum: 1,
      maximum: 1440,
      default: 30,
      description: 'A session ends after this many minutes without use.',
    },
    absoluteHours: {
      type: 'integer',
      minimum: 1,
      maximum: 168,
      default: 12,
      description: 'A session ends this many hours after the sign-in.',
    },
  }),
});
export type ConfigFile = Static<typeof ConfigFile>;

export const configSchemaFile = new URL('vestibule.config.schema.json', root);

/** The JSON Schema of the configuration file, for completion and checks in editors. */
export function configSchemaText(): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of Vestibule',
    ...ConfigFile,
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

// `node server/config/config-file.ts` rewrites the file.
if (import.meta.main) writeFileSync(configSchemaFile, configSchemaText());
