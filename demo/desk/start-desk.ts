import { readFileSync } from 'node:fs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '#server/config/config.ts';
import { root } from '#server/config/root.ts';
import type { Keys } from '#server/crypto/keys.ts';
import type { Database } from '#server/database/database.ts';
import { isPortalCookie, readTokenCookie } from '#server/http/cookies.ts';
import { type Case, type CaseGroup, visitor } from '../cases.ts';
import type { Account } from '../fill-portal.ts';
import type { Place } from '../place.ts';
import type { Switch } from '../providers/provider-pages.ts';
import { type DemoServer, demoApp, listen, sendPage } from '../start-server.ts';
import { appCodes } from './app-keys.ts';
import { brandedSignIn, brandOf, brandPage } from './brand-page.ts';
import { authenticatorPage, deskPage, grouped, mailRow, mailsPage, startPage } from './desk-pages.ts';
import { explanations } from './explain-page.ts';
import type { Mailbox } from './read-mails.ts';

type ProviderOfDesk = { page: string; behaviour: Switch };

type Desk = {
  port: number;
  place: Place;
  css: string;
  groups: readonly CaseGroup[];
  accounts: readonly Account[];
  oidc: ProviderOfDesk;
  saml: ProviderOfDesk;
  portalOrigin: string;
  mailbox: Mailbox;
  config: Config;
  sql: Database;
  keys: Keys;
};

const script = readFileSync(new URL('demo/files/desk.js', root), 'utf8');
/** The portal's mails have their styles in them, and load nothing. */
const mailPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";

/** Serves the pages that explain the demo and stand for the visitor's mailbox and phone. */
export async function startDesk(desk: Desk): Promise<DemoServer> {
  const { mailbox, portalOrigin } = desk;
  const app = demoApp(desk.place);
  const mailCount = () => mailbox.list().length;
  const all = [...desk.groups.flatMap((group) => group.cases), visitor];
  const cases = new Map(all.map((one) => [one.id, one]));

  app.get('/look.css', (_request, reply) => reply.type('text/css').send(desk.css));
  app.get('/desk.js', (_request, reply) => reply.type('text/javascript').send(script));

  app.get('/', (_request, reply) =>
    sendPage(
      reply,
      startPage({
        ...desk,
        providers: { oidc: desk.oidc.page, saml: desk.saml.page },
        portal: `${portalOrigin}/portal`,
        mailCount: mailCount(),
      }),
    ),
  );

  app.get<{ Params: { id: string } }>('/open/:id', async (request, reply) => {
    const found = cases.get(request.params.id);
    if (!found) return reply.code(404).send('There is no such case.');
    preset(found);
    const begins = found.at === undefined ? found : { ...found, path: found.at === 'saml' ? desk.saml.page : found.at };
    return await openCase(begins, desk, request, reply);
  });

  /** A fault of an earlier case does not last. */
  function preset({ oidc = 'right', saml = 'right' }: Case): void {
    desk.oidc.behaviour.current = oidc;
    desk.saml.behaviour.current = saml;
  }

  app.get('/inbox', (_request, reply) => sendPage(reply, mailsPage(mailbox.list())));
  app.get('/inbox/events', (request, reply) => sendEvents(request, reply));
  app.get<{ Params: { id: string } }>('/inbox/:id', (request, reply) => {
    const mail = mailbox.list().find(({ id }) => id === request.params.id);
    if (!mail) return reply.code(404).send('There is no such mail.');
    reply.header('content-security-policy', mailPolicy).type('text/html; charset=utf-8');
    return reply.send(mail.html.replace(/<head>/i, '<head><base target="_blank">'));
  });

  app.get('/explain', async (_request, reply) =>
    sendPage(reply, deskPage('/explain', mailCount(), 'What support sees', await explanations(desk.sql))),
  );
  const asked = (request: FastifyRequest) => brandOf(new URLSearchParams(request.query as Record<string, string>));
  app.get('/brand', (request, reply) =>
    sendPage(reply, deskPage('/brand', mailCount(), 'Your brand', brandPage(asked(request)))),
  );
  app.get('/brand/login', async (request, reply) => {
    reply.header('content-security-policy', mailPolicy).type('text/html; charset=utf-8');
    return await brandedSignIn(desk.config, asked(request));
  });

  // Cookies do not know ports: the portal's come here, too.
  const codesFor = async ({ headers }: FastifyRequest) =>
    await appCodes(desk, readTokenCookie(headers, desk.config, 'device'), new Date());
  app.get('/authenticator', async (request, reply) =>
    sendPage(reply, authenticatorPage(await codesFor(request), mailCount())),
  );
  app.get('/authenticator/codes', async (request) =>
    (await codesFor(request)).map(({ id, code, left, isUsed }) => ({ id, code: grouped(code), left, isUsed })),
  );

  /** Each new mail as a server-sent event; a reload shows the earlier ones. */
  function sendEvents(request: FastifyRequest, reply: FastifyReply): void {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    reply.raw.write(': open\n\n');
    const end = mailbox.onMail((mail) => {
      const data = JSON.stringify({ id: mail.id, count: mailCount(), row: mailRow(mail, true).markup });
      reply.raw.write(`event: mail\ndata: ${data}\n\n`);
    });
    request.raw.on('close', end);
  }

  return await listen(app, desk.place, desk.port);
}

/**
 * Sends the browser to where a case begins, as one that the portal has never seen: the session is ended at the portal, and
 * its cookies are deleted. They come here too, since cookies are the same for every port of a host (RFC 6265 §8.5).
 */
async function openCase(
  { path }: Case,
  { portalOrigin, place }: Desk,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { cookie = '' } = request.headers;
  const names = cookie
    .split(';')
    .filter(isPortalCookie)
    .map((pair) => pair.split('=')[0]?.trim() ?? '');
  if (names.length > 0) {
    const headers = { cookie, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' };
    await fetch(`${portalOrigin}/portal/logout`, { headers, redirect: 'manual' }).catch(() => null);
    reply.header(
      'set-cookie',
      names.map((name) => `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${place.tls ? '; Secure' : ''}`),
    );
  }
  // At another page of the demo, a case begins with its own address.
  return reply.redirect(/^(?:https?:|\/(?:inbox|brand)$)/.test(path) ? path : portalOrigin + path, 303);
}
