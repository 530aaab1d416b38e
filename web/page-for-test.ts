import { type Language, languages } from '#contract/languages.ts';
import type { Page } from '#contract/page.ts';
import { renderDocument } from './render.tsx';

export const assetsForTest = {
  script: '/portal/assets/main.js',
  laterScript: '/portal/assets/later-screen.js',
  passkeyScript: '/portal/assets/enrol.js',
  messages: Object.fromEntries(languages.map((tag) => [tag, `/portal/assets/${tag}.js`])) as Record<Language, string>,
  style: 'body{}',
  accentColour: null,
  texts: {},
};

export function pageForTest(url: string, more: Partial<Page> = {}): Page {
  return {
    language: 'en',
    url,
    branding: {
      name: 'Vestibule',
      logo: null,
      links: {
        support: 'https://x.example/support',
        imprint: 'https://x.example/imprint',
        solutions: 'https://x.example/',
      },
    },
    rules: { origin: 'https://portal.example', basePath: '/portal', allowedOrigins: [] },
    passwordPolicy: { shortest: 7, longest: 72 },
    typedUsername: '',
    reference: null,
    serverPage: null,
    ...more,
  };
}

/** The document of a page as the server sends it. */
export function documentForTest(url: string, more: Partial<Page> = {}): string {
  return renderDocument(pageForTest(url, more), assetsForTest);
}
