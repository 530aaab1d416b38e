import { type Language, languages } from '#contract/languages.ts';
import type { Page, PageScreen } from '#contract/page.ts';
import { placeOfUrl } from '#web/addresses.ts';
import { renderDocument } from '#web/render.tsx';

export const assetsForTest = {
  script: '/portal/assets/main.js',
  laterScript: '/portal/assets/later-screen.js',
  passkeyScript: '/portal/assets/enrol.js',
  deskScript: '/portal/assets/desk.js',
  messages: Object.fromEntries(languages.map((tag) => [tag, `/portal/assets/${tag}.js`])) as Record<Language, string>,
  style: 'body{}',
  accentColour: '#21489c',
  texts: {},
};

type PageForTest = Partial<Omit<Page, 'screen'>> & { screen?: object };

/** A page; `screen`: what its screen is told, or another than its address names. */
export function pageForTest(url: string, { screen, ...more }: PageForTest = {}): Page {
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
    screen: { ...placeOfUrl(url, '/portal').screen, ...screen } as PageScreen,
    ...more,
  };
}

/** The document of a page as the server sends it. */
export function documentForTest(url: string, more: PageForTest = {}): string {
  return renderDocument(pageForTest(url, more), assetsForTest);
}
