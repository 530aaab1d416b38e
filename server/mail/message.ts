import type { SendMailOptions } from 'nodemailer';
import { encode, wrap } from 'nodemailer/lib/qp';
import type { Config } from '../config/config.ts';
import type { Mail, WordedMail } from '../people/mail-kinds.ts';

/** The sender: the name and address that readers see, and the public host, which is used in message ids. */
export type Sender = { name: string; address: string; host: string };

export function senderOf({ brand, mailFrom, publicUrl }: Pick<Config, 'brand' | 'mailFrom' | 'publicUrl'>) {
  return { name: brand.branding.name, address: mailFrom, host: publicUrl.hostname } satisfies Sender;
}

/** An email for nodemailer, whose parts are written already. */
type Message = SendMailOptions & { text: { raw: string }; html: { raw: string } };

/**
 * An email for nodemailer. Addresses are objects, so that no text is parsed into additional recipients; the same email
 * always has the same Message-ID. `eightBit`: the transport accepts any byte, as a file does.
 */
export function mailMessage(
  { id, recipient, queuedAt }: Pick<Mail, 'id' | 'recipient' | 'queuedAt'>,
  { subject, text, html, from: name }: WordedMail,
  sender: Sender,
  { eightBit = false } = {},
): Message {
  const from = { name: name ?? sender.name, address: sender.address };
  const to = { name: '', address: recipient };
  return {
    from,
    to,
    envelope: { from, to: [to] },
    subject,
    text: textPart(text, eightBit),
    html: part('text/html', 'quoted-printable', html),
    messageId: `<${id}@${sender.host}>`,
    date: queuedAt,
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

/**
 * Unencoded if possible: nodemailer would encode lines over 76 characters, and an encoded link cannot be read or searched
 * for in the raw email. A line may have 998 (RFC 5322 §2.1.1).
 */
function textPart(text: string, eightBit: boolean): { raw: string } {
  const sevenBit = /^[\t\r\n\x20-\x7e]*$/.test(text) && !/.{999}/.test(text);
  return part('text/plain', sevenBit ? '7bit' : eightBit ? '8bit' : 'quoted-printable', text);
}

function part(type: string, encoding: '7bit' | '8bit' | 'quoted-printable', content: string): { raw: string } {
  const lines = content.replace(/\r\n|\r|\n/g, '\r\n');
  const encoded = encoding === 'quoted-printable' ? wrap(encode(lines)) : lines;
  const headers = [`Content-Type: ${type}; charset=utf-8`, `Content-Transfer-Encoding: ${encoding}`];
  return { raw: [...headers, '', encoded].join('\r\n') };
}
