import Type, { type Static } from 'typebox';

const Link = (description: string) =>
  Type.String({ pattern: '^(?:https://|mailto:|tel:)\\S+$', maxLength: 500, description });

/** The configuration file, `vestibule.config.json`; its JSON Schema is kept in vestibule.config.schema.json. */
export const ConfigFile = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'Name of the hub, shown in header and titles.' }),
    ),
    logo: Type.Optional(
      Type.String({
        pattern: '\\.(?:svg|png|webp)$',
        description: 'Path of an image file that replaces the mark and the name in the header.',
      }),
    ),
    accentColour: Type.Optional(
      Type.String({
        pattern: '^#(?:[0-9a-fA-F]{3}){1,2}$',
        description: 'The one colour of the pages, such as #21489c; contrast is computed from it.',
      }),
    ),
    links: Type.Optional(
      Type.Object(
        {
          support: Type.Optional(Link('Target of "Contact support".')),
          imprint: Type.Optional(Link('Target of "Imprint".')),
          solutions: Type.Optional(Link('Target of the tagline.')),
        },
        { additionalProperties: false },
      ),
    ),
    basePath: Type.Optional(
      Type.String({
        pattern: '^/[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)*$',
        maxLength: 100,
        description: 'Path under which everything is served.',
        default: '/portal',
      }),
    ),
    allowedHosts: Type.Optional(
      Type.Array(Type.String({ pattern: '^[A-Za-z0-9.:\\[\\]-]+$' }), {
        description:
          'Additional Host headers to answer, such as 10.0.0.5:8080 for a proxy that does not pass the public one.',
      }),
    ),
    allowedRedirectOrigins: Type.Optional(
      Type.Array(Type.String({ pattern: '^https://[A-Za-z0-9.-]+(?::\\d+)?$' }), {
        description: 'Foreign https origins that a sign-in may redirect to.',
      }),
    ),
    trustedProxies: Type.Optional(
      Type.Array(Type.String(), { description: 'Addresses or networks of proxies whose X-Forwarded-For is trusted.' }),
    ),
    audit: Type.Optional(
      Type.Object(
        {
          keepDays: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 3650, default: 400, description: 'How long audit events are kept.' }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    mail: Type.Optional(
      Type.Object(
        {
          from: Type.Optional(
            Type.String({
              maxLength: 254,
              description: 'Sender address of emails (default: no-reply@ the public host).',
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    passwordPolicy: Type.Optional(
      Type.Object(
        {
          minimumLength: Type.Optional(
            Type.Integer({ minimum: 7, maximum: 64, default: 7, description: 'Shortest new password, in characters.' }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    session: Type.Optional(
      Type.Object(
        {
          idleMinutes: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 1440,
              default: 30,
              description: 'A session ends after this long without use.',
            }),
          ),
          absoluteHours: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 168,
              default: 12,
              description: 'A session ends this long after sign-in.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type ConfigFile = Static<typeof ConfigFile>;
