import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';

/** A real mail server on a port of its own, which keeps what it is sent and misbehaves on request. */
export type MailServerForTest = {
  /** For SMTP_URL, with the credentials that it asks for. */
  url: string;
  port: number;
  /** The mails that it took, oldest first. */
  mails: ReceivedMail[];
  /** How many connections were opened so far. */
  connections: () => number;
  /** From now on; connections that are open change with it. */
  behave: (behaviour: Behaviour) => void;
  /** Resolves with the mails once it has taken so many. Throws when that takes longer than `within`, in milliseconds. */
  waitForMails: (count: number, within?: number) => Promise<ReceivedMail[]>;
  /** Cuts every connection and refuses new ones. */
  shut: () => Promise<void>;
  /** Listens again on the same port. */
  reopen: () => Promise<void>;
  close: () => Promise<void>;
};

export type ReceivedMail = {
  /** What was said in MAIL FROM and in each RCPT TO; a domain in punycode is shown in its own letters. */
  envelope: { from: string; to: string[] };
  /** Whether the envelope had letters beyond ASCII on its way. */
  smtpUtf8: boolean;
  /** As it came, in latin1: one letter for each byte. */
  raw: string;
  parsed: Email;
  /** The name in EHLO, the TLS version or null, and the user who logged in or null. */
  greeting: string;
  tls: string | null;
  user: string | null;
};

export type Behaviour =
  | 'well'
  /** Takes the connection and says nothing. */
  | 'never-greet'
  /** Takes the whole mail and says nothing. */
  | 'hang-after-data'
  /** Cuts the connection in the midst of the mail. */
  | 'drop-in-data'
  /** Cuts the connection when it hears the recipient. */
  | 'drop-at-rcpt'
  /** Answers with a code and words; `words` may be made from the mail. */
  | { at: 'greeting' | 'mail' | 'rcpt' | 'data'; code: number; words: string | ((raw: string) => string) };

export type MailServerOptions = {
  tls?: 'implicit' | 'starttls' | 'off';
  /** What a client must log in with; no login when left out. */
  auth?: { user: string; password: string };
  /** Valid for localhost and 127.0.0.1, or for another host. */
  certificate?: 'localhost' | 'elsewhere';
  behave?: Behaviour;
  /** Further options of smtp-server, such as `hideSMTPUTF8`. */
  options?: SMTPServerOptions;
};

const path = (name: string) => fileURLToPath(new URL(`./test-only-${name}.pem`, import.meta.url));

/** The authority behind the certificates, for NODE_EXTRA_CA_CERTS of a process; its own key was thrown away. */
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

  async function waitForMails(count: number, within = 10_000): Promise<ReceivedMail[]> {
    const end = performance.now() + within;
    while (mails.length < count) {
      if (performance.now() > end) throw new Error(`${mails.length} of ${count} mails came within ${within} ms`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return mails;
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
    waitForMails,
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
    onRcptTo(_address, session, callback) {
      if (behaviour() === 'drop-at-rcpt') cut(session);
      else callback(answerAt('rcpt'));
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
  const { mailFrom, rcptTo, smtpUtf8 = false } = session.envelope;
  return {
    envelope: { from: mailFrom ? mailFrom.address : '', to: rcptTo.map(({ address }) => address) },
    smtpUtf8,
    raw,
    parsed,
    greeting: session.hostNameAppearsAs,
    tls: session.tlsOptions ? session.tlsOptions.version : null,
    user: session.user ?? null,
  };
}
