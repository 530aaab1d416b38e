import type { Page } from '#contract/page.ts';

/** The title of a document that has this heading. */
export function documentTitle(heading: string, { branding }: Page): string {
  return `${heading} · ${branding.name}`;
}
