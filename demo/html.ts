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
