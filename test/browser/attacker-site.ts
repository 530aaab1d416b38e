import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A foreign site that serves whatever a test puts there. */
export class AttackerSite {
  readonly #pages = new Map<string, string>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, answer) => {
      const html = this.#pages.get(request.url ?? '');
      answer.writeHead(html === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
      answer.end(`<!doctype html><link rel="icon" href="data:,">${html ?? ''}`);
    });
  }

  static async start(): Promise<AttackerSite> {
    const site = new AttackerSite();
    site.#server.listen(0, '127.0.0.1');
    await once(site.#server, 'listening');
    return site;
  }

  /** A different site from localhost. */
  get foreignOrigin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Another origin of the same site: cookies ignore ports. */
  get neighbourOrigin(): string {
    return `http://localhost:${this.#port}`;
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  put(path: string, html: string): void {
    this.#pages.set(path, html);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
