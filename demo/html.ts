/** Markup that is sent as it is; made by `html` alone. */
export type Html = { markup: string };

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
