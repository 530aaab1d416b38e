import { readFile } from 'node:fs/promises';
import { request as ask, createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * A web server that knows nothing of languages or queries and does what `routes.json` says, for the files of `vestibule
 * pages` in `folder`; `backend` is the port of what answers the calls.
 */
export async function anyWebServer(folder: string, backend: number): Promise<Server> {
  const routes = JSON.parse(await readFile(join(folder, 'routes.json'), 'utf8'));
  const fileAt = (path: string) => readFile(join(folder, 'public', path)).catch(() => null);
  return createServer(async (incoming, answer) => {
    const { pathname, search } = new URL(incoming.url ?? '', 'http://any');
    const isCall = routes.backend.some((start: string) =>
      start.endsWith('/') ? pathname.startsWith(start) : pathname === start,
    );
    if (isCall) {
      const passed = ask(
        { port: backend, path: incoming.url, method: incoming.method, headers: incoming.headers },
        (from) => {
          answer.writeHead(from.statusCode ?? 502, from.headers);
          from.pipe(answer);
        },
      );
      return incoming.pipe(passed);
    }
    const redirect = routes.redirects.find(({ from }: { from: string }) => from === pathname);
    if (redirect) return answer.writeHead(302, { location: redirect.to + (redirect.keepsQuery ? search : '') }).end();
    if (pathname.startsWith(routes.assets.below)) {
      const asset = await fileAt(pathname);
      return answer
        .writeHead(asset ? 200 : 404, { 'content-type': 'text/javascript', ...routes.assets.headers })
        .end(asset);
    }
    const plain = pathname.length > routes.notFound.below.length ? pathname.replace(/\/$/, '') : pathname;
    const page =
      routes.pages.find(({ address }: { address: string }) => address === plain) ??
      routes.pages.find(({ pattern }: { pattern?: string }) => pattern && new RegExp(pattern).test(pathname)) ??
      routes.notFound;
    answer.writeHead(page.status ?? 200, { ...routes.headersOfPages, 'content-type': 'text/html; charset=utf-8' });
    const html = (await fileAt(page.file)) ?? Buffer.alloc(0);
    // In two parts, as on a slow line: a browser paints the first before it has the second.
    answer.write(html.subarray(0, html.indexOf('<template')));
    await pause(200);
    return answer.end(html.subarray(html.indexOf('<template')));
  });
}
