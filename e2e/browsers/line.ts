import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * What becomes of a request: `refused`, the line breaks before anything is sent; `lost`, it breaks before the answer comes;
 * `gone`, as a server answers for a file of an earlier deployment; or it waits until a promise is kept.
 */
export type Disturbance = 'refused' | 'lost' | 'gone' | Promise<void>;

type Cookie = { name: string; value: string };

/** The script that comes first in every document. */
const firstScript = '/portal/assets/first-script.js';
const faultCall = '/portal/assets/fault';

/**
 * The line between a browser and a portal, as a server of its own: what a test could do in Chromium alone by catching
 * requests. The portal sees its own address.
 */
export class Line {
  readonly #portal: URL;
  readonly #server: Server;
  readonly #disturbed = new Map<RegExp, Disturbance>();
  readonly #faults: string[] = [];
  #cookies: readonly Cookie[] = [];
  #first = '';

  private constructor(portal: string) {
    this.#portal = new URL(portal);
    this.#server = createServer((incoming, answer) => {
      this.#answer(incoming, answer).catch(() => answer.destroy());
    });
  }

  static async start(portal: string): Promise<Line> {
    const line = new Line(portal);
    line.#server.listen(0, '127.0.0.1');
    await once(line.#server, 'listening');
    return line;
  }

  get origin(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Errors and refusals of the policy in the documents so far. */
  get faults(): readonly string[] {
    return this.#faults;
  }

  /** Disturbs requests with a matching path until the returned function is called. */
  disturb(path: RegExp, how: Disturbance): () => void {
    this.#disturbed.set(path, how);
    return () => void this.#disturbed.delete(path);
  }

  /** Runs before any script of a page. */
  runFirst(script: () => void): void {
    this.#first = `(${script})();`;
  }

  /** Gives the browser cookies before the next page. */
  give(cookies: readonly Cookie[]): void {
    this.#cookies = cookies;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { pathname } = new URL(incoming.url ?? '', this.#portal);
    // Otherwise a browser may repeat by itself what broke on a connection that it had before.
    answer.setHeader('connection', 'close');
    if (pathname === firstScript) {
      answer
        .writeHead(200, { 'content-type': 'text/javascript' })
        .end(`(${tellFaults})('${faultCall}');${this.#first}`);
      return;
    }
    if (this.#cookies.length > 0) {
      const cookies = this.#cookies.map(({ name, value }) => `${name}=${value}; Path=/; HttpOnly; SameSite=Lax`);
      this.#cookies = [];
      answer.writeHead(302, { location: incoming.url ?? '', 'set-cookie': cookies }).end();
      return;
    }
    const sent = await buffer(incoming);
    if (pathname === faultCall) {
      this.#faults.push(sent.toString());
      answer.writeHead(204).end();
      return;
    }
    const how = [...this.#disturbed].find(([path]) => path.test(pathname))?.[1];
    if (how instanceof Promise) await how;
    if (how === 'refused') return void answer.destroy();
    if (how === 'gone') return void answer.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    const reply = await this.#ask(incoming, sent);
    const received = await buffer(reply);
    if (how === 'lost') return void answer.destroy();
    const isDocument = /^text\/html/.test(reply.headers['content-type'] ?? '');
    answer.writeHead(reply.statusCode ?? 502, this.#headersOf(reply));
    answer.end(isDocument ? withFirstScript(received.toString()) : received);
  }

  async #ask({ method, url, headers }: IncomingMessage, sent: Buffer): Promise<IncomingMessage> {
    const toPortal = (text: string) => text.replace(this.origin, this.#portal.origin);
    const changed = {
      ...headers,
      host: this.#portal.host,
      'accept-encoding': 'identity',
      connection: 'close',
      ...(headers.origin && { origin: toPortal(headers.origin) }),
      ...(headers.referer && { referer: toPortal(headers.referer) }),
    };
    const onward = request(new URL(url ?? '', this.#portal), { method: method ?? 'GET', headers: changed });
    onward.end(sent);
    const [reply] = (await once(onward, 'response')) as [IncomingMessage];
    return reply;
  }

  #headersOf({ headers }: IncomingMessage) {
    const { 'content-length': _length, 'transfer-encoding': _encoding, location, ...others } = headers;
    return {
      ...others,
      connection: 'close',
      ...(location && { location: location.replace(this.#portal.origin, this.origin) }),
    };
  }
}

function withFirstScript(html: string): string {
  return html.replace(/<head>|(?=<meta)/, `$&<script src="${firstScript}"></script>`);
}

/** Runs in the page. */
function tellFaults(call: string): void {
  const tell = (fault: unknown) => navigator.sendBeacon(call, String(fault));
  addEventListener('error', ({ message }) => message && tell(message));
  addEventListener('unhandledrejection', ({ reason }) => tell(reason));
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample, sourceFile, lineNumber }) =>
    tell(`policy: ${violatedDirective} ${blockedURI} ${sample} ${sourceFile}:${lineNumber}`),
  );
  const { error } = console;
  console.error = (...what) => {
    tell(what.join(' '));
    error(...what);
  };
}
