import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A reverse proxy in front of a portal: it passes the Host on and appends the client to X-Forwarded-For. */
export class ReverseProxy {
  /** The apparent address of the next client. */
  client = '198.51.100.7';
  /** Where it forwards requests to. */
  target = 0;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((incoming, answer) => {
      const before = incoming.headers['x-forwarded-for'];
      const headers = { ...incoming.headers, 'x-forwarded-for': before ? `${before}, ${this.client}` : this.client };
      const { method, url: path } = incoming;
      const onward = request({ host: '127.0.0.1', port: this.target, method, path, headers }, (reply) => {
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(answer);
      });
      onward.on('error', () => answer.destroy());
      incoming.pipe(onward);
    });
  }

  static async start(): Promise<ReverseProxy> {
    const proxy = new ReverseProxy();
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get origin(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
