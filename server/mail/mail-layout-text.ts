import type { MailBlock, MailContent } from './mail-layout-content.ts';

/**
 * The plain-text part of a mail; the link or the code stands on a line of its own. What says of which site a code is
 * has to be the last line, so no line ends after it (WICG, origin-bound one-time codes).
 */
export function mailLayoutText({ hub, title, blocks, footer, codeLine }: MailContent): string {
  const text = `${[hub, title, ...blocks.map(blockText), footer].join('\n\n')}\n`;
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
