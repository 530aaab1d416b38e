import { type Language, languages } from '#contract/languages.ts';

const link = <const Description extends string>(description: Description) =>
  ({ type: 'string', pattern: '^(?:https://|mailto:|tel:)\\S+$', maxLength: 500, description }) as const;

const logo = <const Description extends string>(description: Description) =>
  ({ type: 'string', pattern: '\\.(?:svg|png|webp|jpe?g)$', maxLength: 1000, description }) as const;

const textsOfLanguage = {
  type: 'object',
  additionalProperties: { type: 'string', minLength: 1, maxLength: 300 },
} as const;

/** The settings of the configuration file that say how pages and emails look. */
export const brandSettings = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: 64,
    pattern: '^[^\\p{Cc}\\p{Zl}\\p{Zp}\\p{Bidi_Control}]*$',
    description: 'Name of the hub, shown in header, titles and emails.',
  },
  logo: logo('Path of an SVG, PNG, WebP or JPEG file that replaces the mark and the name in the header.'),
  logoDark: logo('The same for dark screens (default: logo).'),
  accentColour: {
    type: 'string',
    pattern: '^#(?:[0-9a-fA-F]{3}){1,2}$',
    description: 'The one colour of the pages, such as #21489c; contrast is computed from it.',
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
    description: 'By language, such as texts.de: your own words for texts of messages/, by their keys.',
    properties: Object.fromEntries(languages.map((language) => [language, textsOfLanguage])) as Record<
      Language,
      typeof textsOfLanguage
    >,
    additionalProperties: false,
  },
} as const;
