import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Email } from 'postal-mime';
import PostalMime from 'postal-mime';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { type MailContent, queueMail } from '#server/mail/queue-mail.ts';
import type { PortalForTest } from './portal-for-test.ts';
import { userId } from './reset-for-test.ts';

/** Queues an email to a user at acme.test. */
export async function queueMailTo(
  portal: PortalForTest,
  username: string,
  more: Partial<MailContent> & { own?: string | null } = {},
): Promise<void> {
  const { own = null, ...content } = more;
  const reader = { id: await userId(portal, username), username, email: `${username}@acme.test`, language: own };
  await queueMail(portal.sql, reader, { kind: 'passwordChanged', now: portal.deps.now(), ...content });
}

/** The queued emails. */
export async function waitingMails({ sql }: PortalForTest) {
  return [
    ...(await sql<{ kind: string; tries: number; problem: string | null }[]>`
      select payload->>'kind' as kind, tries, problem from job where queue = 'mail'`),
  ];
}

/** Lets emails be sent again. */
export function letLeave({ onSend, mails }: PortalForTest): void {
  onSend(async ({ id, recipient }, words) => void mails.push({ id, recipient, ...words }));
}

/** A real mail server on its own port, which keeps received emails and misbehaves on request. */
export type MailServerForTest = {
  /** For SMTP_URL, with the required credentials. */
  url: string;
  port: number;
  /** The accepted emails, oldest first. */
  mails: ReceivedMail[];
  /** How many connections were opened so far. */
  connections: () => number;
  /** From now on; open connections change too. */
  behave: (behaviour: Behaviour) => void;
  /** Cuts every connection and refuses new ones. */
  shut: () => Promise<void>;
  /** Listens again on the same port. */
  reopen: () => Promise<void>;
  close: () => Promise<void>;
};

export type ReceivedMail = {
  /** The addresses of MAIL FROM and each RCPT TO; punycode domains are shown in Unicode. */
  envelope: { from: string; to: string[] };
  /** As received, in latin1: one letter per byte. */
  raw: string;
  parsed: Email;
  /** The name in EHLO, the TLS version or null, and the user who logged in or null. */
  greeting: string;
  tls: string | null;
  user: string | null;
};

export type Behaviour =
  | 'well'
  /** Accepts the connection and says nothing. */
  | 'never-greet'
  /** Accepts the whole email and says nothing. */
  | 'hang-after-data'
  /** Cuts the connection in the middle of the email. */
  | 'drop-in-data'
  /** Answers with a code and text; `words` may be derived from the email. */
  | { at: 'greeting' | 'mail' | 'rcpt' | 'data'; code: number; words: string | ((raw: string) => string) };

export type MailServerOptions = {
  tls?: 'implicit' | 'starttls' | 'off';
  /** The required login; none if absent. */
  auth?: { user: string; password: string };
  /** Valid for localhost and 127.0.0.1, or for another host. */
  certificate?: 'localhost' | 'elsewhere';
  behave?: Behaviour;
  /** Further options of smtp-server, such as `hideSMTPUTF8`. */
  options?: SMTPServerOptions;
};

const path = (name: string) => fileURLToPath(new URL(`test-only-${name}.pem`, import.meta.url));

/** The CA of the certificates, for NODE_EXTRA_CA_CERTS of a process; its own key was discarded. */
export const testAuthorityFile = path('authority');
export const testAuthority = readFileSync(testAuthorityFile, 'utf8');

/** Starts a mail server on 127.0.0.1, with STARTTLS unless told otherwise. Close it in `afterEach` or `afterAll`. */
export async function mailServerForTest(options: MailServerOptions = {}): Promise<MailServerForTest> {
  const { tls = 'starttls', auth } = options;
  const mails: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  let behaviour = options.behave ?? 'well';
  let opened = 0;
  let listening = await listen(0);
  const { port } = listening.server.address() as AddressInfo;

  async function listen(on: number): Promise<SMTPServer> {
    const server = new SMTPServer(smtpServerOptions(options, () => behaviour, mails, cut));
    server.on('error', () => {});
    server.server.on('connection', (socket) => {
      opened += 1;
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    server.listen(on, '127.0.0.1');
    await once(server.server, 'listening');
    return server;
  }

  function cut({ remotePort }: SMTPServerSession): void {
    for (const socket of sockets) if (socket.remotePort === remotePort) socket.destroy();
  }

  async function shut(): Promise<void> {
    if (!listening.server.listening) return;
    const closed = new Promise<void>((resolve) => listening.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  const login = auth ? `${encodeURIComponent(auth.user)}:${encodeURIComponent(auth.password)}@` : '';
  return {
    url: `${tls === 'implicit' ? 'smtps' : 'smtp'}://${login}127.0.0.1:${port}${tls === 'off' ? '?starttls=off' : ''}`,
    port,
    mails,
    connections: () => opened,
    behave: (next) => {
      behaviour = next;
    },
    shut,
    reopen: async () => {
      listening = await listen(port);
    },
    close: shut,
  };
}

function smtpServerOptions(
  { tls = 'starttls', auth, certificate = 'localhost', options }: MailServerOptions,
  behaviour: () => Behaviour,
  mails: ReceivedMail[],
  cut: (session: SMTPServerSession) => void,
): SMTPServerOptions {
  const answerAt = (step: 'greeting' | 'mail' | 'rcpt' | 'data', raw = '') => {
    const now = behaviour();
    if (typeof now === 'string' || now.at !== step) return null;
    const words = typeof now.words === 'string' ? now.words : now.words(raw);
    return Object.assign(new Error(words), { responseCode: now.code });
  };
  return {
    secure: tls === 'implicit',
    key: readFileSync(path('server-key')),
    cert: readFileSync(path(certificate)),
    disabledCommands: [...(tls === 'starttls' ? [] : ['STARTTLS']), ...(auth ? [] : ['AUTH'])],
    authOptional: !auth,
    allowInsecureAuth: tls === 'off',
    disableReverseLookup: true,
    ...options,
    onAuth({ username, password }, _session, callback) {
      if (username === auth?.user && password === auth?.password) callback(null, { user: username });
      else callback(null, { message: `No login for ${username} with ${password}` });
    },
    onConnect(_session, callback) {
      if (behaviour() !== 'never-greet') callback(answerAt('greeting'));
    },
    onMailFrom(_address, _session, callback) {
      callback(answerAt('mail'));
    },
    onRcptTo(_address, _session, callback) {
      callback(answerAt('rcpt'));
    },
    onData(stream, session, callback) {
      if (behaviour() === 'drop-in-data') stream.once('data', () => cut(session));
      const take = async (bytes: Buffer) => {
        if (behaviour() === 'hang-after-data') return;
        const raw = bytes.toString('latin1');
        const answer = answerAt('data', raw);
        if (!answer) mails.push(receivedMail(session, raw, await PostalMime.parse(bytes)));
        callback(answer);
      };
      buffer(stream).then(take, callback);
    },
  };
}

function receivedMail(session: SMTPServerSession, raw: string, parsed: Email): ReceivedMail {
  const { mailFrom, rcptTo } = session.envelope;
  return {
    envelope: { from: mailFrom ? mailFrom.address : '', to: rcptTo.map(({ address }) => address) },
    raw,
    parsed,
    greeting: session.hostNameAppearsAs,
    tls: session.tlsOptions ? session.tlsOptions.version : null,
    user: session.user ?? null,
  };
}
