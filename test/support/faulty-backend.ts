import { createServer, type IncomingMessage, type Server } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** What a call does wrong: it answers so, if the body is like `when`, and else as it should. */
export type Fault = {
  call: string;
  when?: RegExp;
  status?: number;
  to?: string;
  cookie?: string;
  json?: unknown;
  isNewEachTime?: true;
  /** Doesn't look at where a request comes from. */
  fromAnySite?: true;
  /** Leads to an address with what it was sent. */
  repeats?: true;
};

let made = 0;

/** A backend with a fault. */
export function faultyBackend(backend: Server, fault: Fault): Server {
  const { call, when = /^/, status, to, cookie, json, isNewEachTime, fromAnySite, repeats } = fault;
  return createServer(async (request, answer) => {
    const body = await text(request);
    const again = Object.assign(Readable.from([body]), {
      method: request.method,
      url: request.url,
      headers: { ...request.headers },
    }) as unknown as IncomingMessage;
    const isMeant = `${request.method} ${request.url?.replace(/^\/portal\/|\?.*/g, '')}` === call && when.test(body);
    if (isMeant && fromAnySite) again.headers['sec-fetch-site'] = 'same-origin';
    if (!isMeant || fromAnySite) return backend.emit('request', again, answer);
    made += 1;
    if (isNewEachTime) {
      const key = { url: '/qr', totpSecret: 'A'.repeat(16 + made) };
      return answer.writeHead(200).end(JSON.stringify(key));
    }
    if (json !== undefined) return answer.writeHead(status ?? 200).end(JSON.stringify(json));
    if (repeats) return answer.writeHead(303, { location: `/portal/${body}/${encodeURIComponent(body)}` }).end();
    if (to) return answer.writeHead(303, { location: to }).end();
    if (cookie) return answer.writeHead(303, { location: '/portal/portal.html', 'set-cookie': cookie }).end();
    return answer.writeHead(status ?? 200, status === 307 ? { location: '/portal/loginfail/default' } : {}).end();
  });
}
