import type { Config } from '../config/config.ts';
import { hostAndPort } from '../config/smtp-url.ts';
import type { MailTransport } from '../deps.ts';
import { folderTransport, outboxOf } from './folder-transport.ts';
import { senderOf } from './message.ts';
import { smtpTransport } from './smtp-transport.ts';

type MailConfig = Pick<Config, 'smtp' | 'dataFolder' | 'brand' | 'mailFrom' | 'publicUrl'>;

/** The configured transport for emails: the mail server, else the outbox folder. Does not connect yet. */
export function openTransport(
  config: MailConfig,
  log: { info(text: string): void; warn(text: string): void },
): MailTransport {
  const { smtp } = config;
  if (!smtp) {
    const outbox = outboxOf(config.dataFolder);
    log.warn(`SMTP_URL is not set: emails are written to ${outbox} and are not delivered`);
    return folderTransport(outbox, senderOf(config));
  }
  if (smtp.tls === 'off') log.warn(`Emails are sent through ${hostAndPort(smtp)} without encryption (starttls=off)`);
  else log.info(`Emails are sent through ${hostAndPort(smtp)}`);
  return smtpTransport(smtp, senderOf(config));
}
