import type { SendMailOptions } from 'nodemailer';
import type { Config } from '../config/config.ts';
import type { Mail, WordedMail } from '../storage/mail-kinds.ts';

/** The sender: the name and address that readers see, and the public host, which is used in message ids. */
export type Sender = { name: string; address: string; host: string };

export function senderOf({ branding, mailFrom, publicUrl }: Pick<Config, 'branding' | 'mailFrom' | 'publicUrl'>) {
  return { name: branding.name, address: mailFrom, host: publicUrl.hostname } satisfies Sender;
}

/**
 * An email for nodemailer. Addresses are objects, so that no text is parsed into additional recipients; the same email
 * always has the same Message-ID. `eightBit`: the transport accepts any byte, as a file does.
 */
export function mailMessage(
  { id, recipient, queuedAt }: Pick<Mail, 'id' | 'recipient' | 'queuedAt'>,
  { subject, text, html }: WordedMail,
  sender: Sender,
  { eightBit = false } = {},
): SendMailOptions {
  const from = { name: sender.name, address: sender.address };
  const to = { name: '', address: recipient };
  return {
    from,
    to,
    envelope: { from, to: [to] },
    subject,
    text: textPart(text, eightBit),
    html,
    messageId: `<${id}@${sender.host}>`,
    date: queuedAt,
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

/**
 * Builds its own part if the text can go unencoded: nodemailer would encode lines over 76 characters, and an encoded
 * link cannot be read or searched for in the raw email. A line may have 998 (RFC 5322 §2.1.1).
 */
function textPart(text: string, eightBit: boolean): SendMailOptions['text'] {
  const sevenBit = /^[\t\r\n\x20-\x7e]*$/.test(text) && !/.{999}/.test(text);
  if (!sevenBit && !eightBit) return text;
  const headers = [
    'Content-Type: text/plain; charset=utf-8',
    `Content-Transfer-Encoding: ${sevenBit ? '7bit' : '8bit'}`,
  ];
  return { raw: [...headers, '', ...text.split(/\r\n|\r|\n/)].join('\r\n') };
}
