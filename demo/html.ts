/** Markup that is sent as it is; made by `html` alone. */
export type Html = { markup: string };

/** How each page of the demo begins. */
export function headOf(title: string, name: string, styles: string): Html {
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · ${name}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${styles}">`;
}

/** The portal's own arch, as the desk and the hub show it. */
export const arch: Html = html`<svg viewBox="0 0 26 30" width="26" height="30" fill="currentColor" aria-hidden="true"><path fill-rule="evenodd" d="M1 30V13a12 12 0 0 1 24 0v17zm9 0h11V15.5a5.5 5.5 0 0 0-11 0z"/></svg>`;

type Part = string | number | Html | readonly Html[] | null | false;

/** Markup with every text in it escaped; null and false leave nothing. */
export function html(literals: TemplateStringsArray, ...parts: Part[]): Html {
  return { markup: literals.map((literal, index) => literal + written(parts[index] ?? null)).join('') };
}

function written(part: Part): string {
  if (part === null || part === false) return '';
  if (Array.isArray(part)) return part.map(written).join('');
  if (typeof part === 'object') return (part as Html).markup;
  return String(part).replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

/** On a button that copies: two sheets, and a tick once it is done. */
export const copyMark: Html = html`<svg viewBox="0 0 20 20" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.6" aria-hidden="true"><rect x="7" y="7" width="10" height="10" rx="2"/><path d="M13 4.5A1.5 1.5 0 0 0 11.5 3H4.5A1.5 1.5 0 0 0 3 4.5v7A1.5 1.5 0 0 0 4.5 13"/></svg><svg class="done" viewBox="0 0 20 20" width="18" height="18" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true"><path d="m4 10.5 4 4 8-9"/></svg>`;
