import type { NodemailerError } from 'nodemailer';
import { hostAndPort, type SmtpServer } from '../config/smtp-url.ts';
import { MailNotSent } from '../deps.ts';

/** The stage at which a conversation with a mail server failed. */
export type SmtpStep = 'connection' | 'TLS' | 'login' | 'mail';

/** Failures of the conversation; any other error from nodemailer is a bug of ours. */
const codes = new Set([
  ...['EDNS', 'ECONNECTION', 'ESOCKET', 'ETIMEDOUT', 'ETLS', 'EPROTOCOL', 'EAUTH'],
  ...['EENVELOPE', 'EMESSAGE', 'EABORT'],
]);

/**
 * What a failed attempt means for the queue, in words for the operator. `inMidst`: the email itself was being sent, so
 * a broken or hung connection counts against it. Rethrows other errors.
 */
export function mailNotSent(error: NodemailerError, server: SmtpServer, inMidst: boolean): MailNotSent {
  if (!codes.has(error.code ?? '')) throw error;
  const why = inMidst || stepOf(error) === 'mail' ? 'refused' : 'away';
  return new MailNotSent(
    why,
    smtpFailure(error, server) + (inMidst && !error.response ? ' in the middle of an email' : ''),
  );
}

export function stepOf(error: NodemailerError): SmtpStep {
  const { code, command = '', originalCode = '', timeoutType, syscall } = error;
  if (code === 'EENVELOPE' || code === 'EMESSAGE') return 'mail';
  if (code === 'EAUTH') return 'login';
  if (code === 'ETLS' || command === 'STARTTLS' || timeoutType === 'UPGRADE_TIMEOUT') return 'TLS';
  // Certificate and handshake errors come from OpenSSL, not from a system call; EPIPE is a connection that was closed.
  const isOfOpenssl = (!syscall && originalCode !== 'EPIPE') || /^(?:EPROTO|ERR_SSL)/.test(originalCode);
  if (code === 'ESOCKET' && isOfOpenssl) return 'TLS';
  return 'connection';
}

/** A failed conversation in one line: no credentials, nothing from the email, the answer escaped and truncated. */
export function smtpFailure(error: NodemailerError, server: SmtpServer): string {
  const { response, originalCode } = error;
  const detail = response ? `: ${serverWords(response, server)}` : originalCode ? ` (${originalCode})` : '';
  return `${hostAndPort(server)} ${whatHappened(error)}${detail}`;
}

function whatHappened(error: NodemailerError): string {
  const { code, command = '', originalCode = '', timeoutType, syscall } = error;
  switch (stepOf(error)) {
    case 'mail':
      if (command === 'MAIL FROM') return 'refused the sender';
      if (command !== 'RCPT TO') return 'refused the email';
      if (!/[^\p{ASCII}]/u.test(error.rejected?.[0] ?? '')) return 'refused the recipient';
      return 'refused the recipient, whose address needs SMTPUTF8';
    case 'login':
      return 'did not accept the login';
    case 'TLS':
      if (command === 'STARTTLS') return 'does not offer encryption (STARTTLS)';
      if (/CERT|ISSUER|SIGNATURE|HOSTNAME/.test(originalCode)) return 'has a certificate that is not trusted here';
      return timeoutType ? 'did not complete the TLS handshake in time' : 'failed the TLS handshake';
    case 'connection':
      if (code === 'EDNS') return 'has a name that cannot be resolved';
      if (timeoutType === 'GREETING_TIMEOUT') return 'did not greet in time';
      if (timeoutType === 'SOCKET_TIMEOUT' || code === 'EABORT') return 'stopped answering';
      if (timeoutType === 'CONNECT_TIMEOUT' || syscall === 'connect') return 'cannot be reached';
      return error.response ? 'is not ready for email' : 'closed the connection';
  }
}

const longestWords = 200;

/**
 * A server's answer in one line of visible ASCII. Servers may echo what was sent, so credentials are removed, as is
 * each run of letters long enough to be a token or an encoded password.
 */
function serverWords(response: string, { user, password }: SmtpServer): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
  const secrets =
    user && password ? [base64(`\0${user}\0${password}`), base64(password), base64(user), password, user] : [];
  const words = secrets
    .reduce((text, secret) => text.replaceAll(secret, '***'), response.replace(/\r?\n(?:\d{3}[ -])?/g, ' '))
    .replace(/[\w+=-]{20,}/g, '***')
    .replace(/[^\x20-\x7e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return words.length > longestWords ? `${words.slice(0, longestWords - 3)}...` : words;
}
