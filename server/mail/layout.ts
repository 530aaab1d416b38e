import type { Language } from '#contract/languages.ts';
import { type MailColours, mailLayoutColours } from './layout-colours.ts';

/** One part of an email, in reading order. */
export type MailBlock =
  | { kind: 'text' | 'note'; text: string }
  | { kind: 'facts'; facts: { label: string; value: string }[] }
  | { kind: 'button'; label: string; href: string }
  | { kind: 'code'; code: string };

/** The content of an email before its layout as text or HTML: both are generated from it, so both say the same. */
export type MailContent = {
  language: Language;
  hub: string;
  subject: string;
  /** The preview that a mailbox shows beside the subject. */
  preview: string;
  title: string;
  blocks: MailBlock[];
  footer: string;
  /** Ends the text part, for programs: the site that a code belongs to. */
  codeLine: string | null;
};

/**
 * The plain-text part of an email; the link or code has its own line. The line that binds a code to its site must be
 * last, with no line break after it (WICG, origin-bound one-time codes).
 */
export function mailLayoutText({ hub, title, blocks, footer, codeLine }: MailContent): string {
  // Some programs show a soft hyphen where no line ends, and search for plain hyphens only.
  const text = `${[hub, title, ...blocks.map(blockText), footer].join('\n\n')}\n`
    .replaceAll('\u00ad', '')
    .replaceAll('\u2011', '-');
  return codeLine === null ? text : `${text}\n${codeLine}`;
}

function blockText(block: MailBlock): string {
  switch (block.kind) {
    case 'text':
    case 'note':
      return block.text;
    case 'facts':
      return block.facts.map(({ label, value }) => `${label}: ${value}`).join('\n');
    case 'button':
      return `${block.label}:\n${block.href}`;
    case 'code':
      return block.code;
  }
}

/** The HTML part of an email: the doorway of the pages, in tables, which every email program supports. */
export function mailLayout(content: MailContent, accentColour: string | null): string {
  const { day, night } = mailLayoutColours(accentColour);
  const { language, hub, subject, preview, title, blocks, footer } = content;
  return `<!doctype html>
<html lang="${language}" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<title>${escaped(subject)}</title>
${mailLayoutStyle(day, night)}
</head>
<body class="floor" style="margin:0;padding:0;background:${day.floor};-webkit-text-size-adjust:100%">
<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${escaped(preview)}</div>
<table ${full} class="floor" bgcolor="${day.floor}">
<tr><td class="wall" align="center" bgcolor="${day.wall}" style="padding:24px 8px 0">
<!--[if mso]><table ${plain} width="560"><tr><td><![endif]-->
<table ${full} style="max-width:560px">
<tr><td class="order" bgcolor="${day.order}" style="padding:12px 12px 0;${arch}">
<table ${full}>
<tr><td class="door" align="center" bgcolor="${day.door}" style="padding:44px 20px 40px;${arch}">
<!--[if mso]><table ${plain} width="400"><tr><td><![endif]-->
<table ${full} style="max-width:400px">
<tr><td align="center" style="padding:0 16px">${header(hub, day)}</td></tr>
<tr><td align="center" style="padding:24px 8px 0"><h1 class="text" style="margin:0;${font(26, 31, 600)};letter-spacing:-.019em;color:${day.text}">${escaped(title)}</h1></td></tr>
${blocks.map((block, index) => blockRow(block, index, day)).join('\n')}
</table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr>
</table>
</td></tr>
</table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr>
<tr><td align="center">
<table ${full} style="max-width:576px">
<tr><td class="light muted" align="center" style="padding:28px 40px 36px;${font(13, 20)};color:${day.muted}">${escaped(footer)}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

const plain = 'role="presentation" cellpadding="0" cellspacing="0" border="0"';
const full = `${plain} width="100%"`;

/** As round as the width allows; without support the doorway has a straight lintel. */
const arch = 'border-radius:280px 280px 0 0';

function font(size: number, line: number, weight = 400): string {
  return `font:${weight} ${size}px/${line}px -apple-system,'Segoe UI',Roboto,'Noto Sans',Helvetica,Arial,sans-serif`;
}

const wrapsAnywhere = 'overflow-wrap:anywhere;word-break:break-word';

function header(hub: string, day: MailColours): string {
  return `<table ${plain}><tr>
<td><table ${plain}><tr><td class="mark" bgcolor="${day.accent}" style="padding:9px 4px 0 9px;border-radius:12px 12px 0 0"><table ${plain}><tr><td class="opening" width="11" height="20" bgcolor="${day.door}" style="min-width:11px;font-size:0;line-height:0;border-radius:6px 6px 0 0">&nbsp;</td></tr></table></td></tr></table></td>
<td class="text" style="padding-left:11px;${font(18, 22, 600)};${wrapsAnywhere};letter-spacing:-.012em;color:${day.text}">${escaped(hub)}</td>
</tr></table>`;
}

function blockRow(block: MailBlock, index: number, day: MailColours): string {
  switch (block.kind) {
    case 'text':
      return `<tr><td class="muted" align="center" style="padding-top:${index === 0 ? 8 : 24}px;${font(16, 24)};${wrapsAnywhere};color:${day.muted}">${escaped(block.text)}</td></tr>`;
    case 'note':
      return `<tr><td class="muted" align="center" style="padding-top:12px;${font(14, 21)};color:${day.muted}">${escaped(block.text)}</td></tr>`;
    case 'facts':
      return `<tr><td style="padding-top:24px"><table ${full} class="facts" bgcolor="${day.order}" style="padding:8px 0;border-radius:10px">
${block.facts.map((fact) => factRow(fact, day)).join('\n')}
</table></td></tr>`;
    case 'button':
      return `<tr><td style="padding-top:24px"><table ${full}><tr><td class="button" align="center" bgcolor="${day.fill}" style="border:1px solid ${day.edge};border-radius:10px;mso-padding-alt:13px 20px"><a class="label" href="${escaped(block.href)}" style="display:block;padding:13px 20px;${font(16, 21, 600)};color:${day.label};text-decoration:none;${wrapsAnywhere}">${escaped(block.label)}<br><span style="${font(13, 18)}">${escaped(new URL(block.href).host)}</span></a></td></tr></table></td></tr>`;
    case 'code':
      return `<tr><td style="padding-top:24px"><table ${full}><tr><td class="code text" align="center" bgcolor="${day.order}" style="padding:16px 8px 16px 12px;border-radius:10px;${font(32, 40, 600)};font-variant-numeric:tabular-nums;letter-spacing:4px;white-space:nowrap;color:${day.text}">${grouped(block.code)}</td></tr></table></td></tr>`;
  }
}

/** Two groups for the eye only: no character separates them when copied. */
function grouped(code: string): string {
  const middle = Math.ceil(code.length / 2);
  return `<span style="padding-right:12px">${escaped(code.slice(0, middle))}</span><span>${escaped(code.slice(middle))}</span>`;
}

function factRow({ label, value }: { label: string; value: string }, day: MailColours): string {
  return `<tr><td class="muted" width="30%" valign="top" style="padding:4px 0 4px 16px;white-space:nowrap;${font(14, 20)};color:${day.muted}">${escaped(label)}</td><td class="text" valign="top" style="padding:4px 16px;${font(14, 20, 500)};${wrapsAnywhere};color:${day.text}">${escaped(value)}</td></tr>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * The style blocks of an email, which are optional: everything essential is inline. There are several because some
 * programs drop a whole block for one unknown rule.
 */
function mailLayoutStyle(day: MailColours, night: MailColours): string {
  return `<style>
:root{color-scheme:light dark}
${depth(day, 1)}
.text,.muted,.label{text-wrap:balance}
@media (min-width:380px){h1{hyphens:none}}
@media (max-width:379px){.facts td{display:block;width:auto!important}.facts .text{padding-top:0!important}}
</style>
<style>
@media (prefers-color-scheme:dark){
${nightColours(night)}
${depth(night, -1)}
}
</style>
<!--[if mso]><style>*{font-family:'Segoe UI',Arial,sans-serif!important}</style><![endif]-->`;
}

/** The thickness of the arches, shaded on the left by day, lit on the right by night; and the light on the floor. */
function depth(colours: MailColours, side: 1 | -1): string {
  return `.order{box-shadow:inset ${8 * side}px 4px ${colours.orderSide}}
.door{box-shadow:inset ${6 * side}px 3px ${colours.doorSide}}
.light{background:linear-gradient(${colours.door},${colours.floor});clip-path:polygon(20px 0,calc(100% - 20px) 0,100% 100%,0 100%)}`;
}

/** Inline styles win over a style block unless this marks a rule as important. */
function nightColours(night: MailColours): string {
  const ground = (name: string, colour: string) => `.${name}{background:${colour}!important}`;
  const ink = (name: string, colour: string) => `.${name}{color:${colour}!important}`;
  return [
    ground('floor', night.floor),
    ground('wall', night.wall),
    ground('order', night.order),
    ground('facts', night.order),
    ground('code', night.order),
    ground('door', night.door),
    ground('opening', night.door),
    ground('mark', night.accent),
    ground('button', night.fill),
    `.button{border-color:${night.edge}!important}`,
    ink('text', night.text),
    ink('muted', night.muted),
    ink('label', night.label),
  ].join('\n');
}
