import type { Branding } from '#contract/page.ts';
import type { Brand } from '#server/config/brand.ts';

type Given = Partial<Omit<Brand, 'branding'>> & Partial<Branding>;

/** A brand of which a test says what matters to it. */
export function brandForTest({ name = 'Acme Hub', logo = null, links, ...more }: Given = {}): Brand {
  const nowhere = 'https://x.example/';
  return {
    branding: { name, logo, links: links ?? { support: nowhere, imprint: nowhere, solutions: nowhere } },
    accentColour: null,
    texts: {},
    logos: [],
    ...more,
  };
}
