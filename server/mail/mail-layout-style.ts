import type { MailColours } from './mail-layout-colours.ts';

/**
 * The style blocks of a mail: what a mail program may leave out, since all else stands in the elements. There are
 * several because some programs drop a whole block for one rule that they do not know.
 */
export function mailLayoutStyle(day: MailColours, night: MailColours): string {
  return `<style>
:root{color-scheme:light dark}
${depth(day, 1)}
.text,.muted{text-wrap:balance}
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

/** The thickness of the arches, in shade on the left by day and lit on the right by night; and the light on the floor. */
function depth(colours: MailColours, side: 1 | -1): string {
  return `.order{box-shadow:inset ${8 * side}px 4px ${colours.orderSide}}
.door{box-shadow:inset ${6 * side}px 3px ${colours.doorSide}}
.light{background:linear-gradient(${colours.door},${colours.floor});clip-path:polygon(20px 0,calc(100% - 20px) 0,100% 100%,0 100%)}`;
}

/** What stands in an element wins over a style block unless this says that it matters more. */
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
