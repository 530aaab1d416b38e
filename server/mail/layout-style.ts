import type { MailColours } from './layout-colours.ts';

/**
 * The style blocks of an email, which are optional: everything essential is inline. There are several because some
 * programs drop a whole block for one unknown rule.
 */
export function mailLayoutStyle(day: MailColours, night: MailColours): string {
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
