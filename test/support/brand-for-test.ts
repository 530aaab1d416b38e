import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** A small logo, four times as wide as high. */
export const svgForTest =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 30"><path fill="#a50" d="M0 0h120v30H0z"/></svg>';

/** Writes an image file of this name to a folder of its own; returns its path. */
export function logoForTest(name: string, content: string | Buffer = svgForTest): string {
  const path = join(mkdtempSync(join(tmpdir(), 'vestibule-logo-')), name);
  writeFileSync(path, content);
  return path;
}
