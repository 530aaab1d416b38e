import type { MailBlock, MailContent } from './mail-layout-content.ts';

/** The plain-text part of a mail; the link stands on a line of its own. */
export function mailLayoutText({ hub, title, blocks, footer }: MailContent): string {
  return `${[hub, title, ...blocks.map(blockText), footer].join('\n\n')}\n`;
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
  }
}
