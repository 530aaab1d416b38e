import type { MailBlock, MailContent } from './layout-content.ts';

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
