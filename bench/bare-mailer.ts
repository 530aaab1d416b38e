// The upper bound: sends the given number of emails from memory, over as many connections as the portal.
import { createTransport } from 'nodemailer';
import { readConfig } from '#server/config/config.ts';
import { composeMail } from '#server/mail/compose-mail.ts';
import { mailsAtOnce } from '#server/mail/smtp-transport.ts';
import { mailOfBench } from './mail-of-bench.ts';

const [port = '', count = ''] = process.argv.slice(2);
const result = readConfig({});
if (result.kind === 'refused') throw new Error(result.problems.join('; '));
const { config } = result;
const transport = createTransport({
  host: '127.0.0.1',
  port: Number(port),
  pool: true,
  maxConnections: mailsAtOnce,
  maxMessages: Number.POSITIVE_INFINITY,
  ignoreTLS: true,
});
const { subject, text, html } = composeMail(mailOfBench(), config);
let left = Number(count);

async function sendOn(): Promise<void> {
  while (left > 0) {
    left -= 1;
    const mail = mailOfBench();
    await transport.sendMail({
      from: 'no-reply@localhost',
      to: mail.recipient,
      messageId: `<${mail.id}@localhost>`,
      subject,
      text,
      html,
    });
  }
}

await Promise.all(Array.from({ length: mailsAtOnce }, sendOn));
transport.close();
