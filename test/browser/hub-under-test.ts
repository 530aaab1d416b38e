import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What RFC 6455 §1.3 adds to the key of a handshake. */
const suffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

const page = (path: string, user: string) => `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Hub</title>
<h1>${path} for ${user}</h1>
<form action="/app/upload" method="post"><button>Post</button></form>
<form action="/portal/logout" method="get"><button>Sign out</button></form>
<p id="socket">no socket</p><p id="events">no events</p>
<script>
const say = (id, text) => { document.getElementById(id).textContent = text; };
const socket = new WebSocket('/app/socket');
socket.onmessage = ({ data }) => say('socket', data);
socket.onclose = () => say('socket', 'socket closed');
const events = new EventSource('/app/events');
events.onmessage = ({ data }) => say('events', data);
</script>`;

/** A hub with a page that opens a WebSocket and a stream of events, each of which says who it is for. */
export class HubUnderTest {
  readonly #server = createServer(({ url = '', headers, method }, answer) => {
    const user = String(headers['x-vestibule-user']);
    if (url === '/app/events') {
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      answer.write(`data: events for ${user}\n\n`);
      return;
    }
    answer.setHeader('content-type', 'text/html');
    answer.end(method === 'POST' ? `<h1>posted by ${user}</h1>` : page(url.replaceAll('&', '&amp;'), user));
  });

  static async start(): Promise<HubUnderTest> {
    const hub = new HubUnderTest();
    hub.#server.on('upgrade', ({ headers }, socket) => {
      socket.on('error', () => {});
      const accept = createHash('sha1').update(`${headers['sec-websocket-key']}${suffix}`).digest('base64');
      const head = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket'];
      socket.write([...head, `Sec-WebSocket-Accept: ${accept}`, '', ''].join('\r\n'));
      const text = Buffer.from(`socket for ${headers['x-vestibule-user']}`);
      // One whole text message, unmasked (RFC 6455 §5.2).
      socket.write(Buffer.concat([Buffer.from([0x81, text.length]), text]));
    });
    hub.#server.listen(0, '127.0.0.1');
    await once(hub.#server, 'listening');
    return hub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
