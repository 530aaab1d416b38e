import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import type { Language } from '#contract/languages.ts';

export const galleryFolder = new URL('../../../gallery/', import.meta.url);

export const colorSchemes = ['light', 'dark'] as const;
export type ColorScheme = (typeof colorSchemes)[number];

/** What one shot shows: `name` is the screen in its state, or the email. */
export type Shot = { of: 'screens' | 'mails'; language: Language; name: string; width: number; scheme: ColorScheme };

/** Where a shot is kept, relative to the gallery. */
export function shotPath({ of, language, name, width, scheme }: Shot): string {
  return `${of}/${language}/${name}-${width}-${scheme}.png`;
}

export async function take(page: Page, shot: Shot, { fullPage = false } = {}): Promise<void> {
  const file = fileURLToPath(new URL(shotPath(shot), galleryFolder));
  mkdirSync(new URL('.', new URL(shotPath(shot), galleryFolder)), { recursive: true });
  await page.screenshot({ path: file, fullPage });
}
