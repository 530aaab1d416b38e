import { setTimeout as pause } from 'node:timers/promises';
import { inflateRawSync } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { makeCertificate } from '#server/single-sign-on/portal-keys.ts';
import { type Html, html } from '../html.ts';
import { demoApp, formOf, listen, sendPage } from '../start-server.ts';
import {
  behaviourChoice,
  isBehaviour,
  outOfOrderPage,
  type ProviderOptions,
  peopleButtons,
  providerPage,
  type Switch,
  savedPage,
  slowness,
  switchForm,
} from './provider-pages.ts';
import { refusal, signedResponse } from './saml-response.ts';

export type SamlProvider = {
  entityId: string;
  signOnUrl: string;
  certificate: string;
  /** Its own page, where faults are switched. */
  page: string;
  behaviour: Switch;
  close: () => Promise<void>;
};

/** A small SAML identity provider (SAML bindings §3.4, §3.5) that can also answer wrongly. It asks for no password. */
export async function startSamlProvider({ look, css, people, portal, place }: ProviderOptions): Promise<SamlProvider> {
  const app = demoApp(place);
  const behaviour: Switch = { current: 'right' };
  const { privateKey, certificate } = await makeCertificate('demo', new Date(Date.now() - 3_600_000));
  const acs = `${portal}/authenticate/saml/acs`;
  const audience = `${portal}/authenticate/saml/metadata`;

  app.get('/look.css', (_request, reply) => reply.type('text/css').send(css()));
  app.get('/post.js', (_request, reply) => reply.type('text/javascript').send('document.forms[0].submit();\n'));

  app.get('/sign-on', (request, reply) => {
    if (behaviour.current === 'down') return sendPage(reply.code(503), outOfOrderPage(look, `${portal}/login`));
    const query = new URL(request.url, signOnUrl).searchParams;
    const requestId = requestIdOf(query.get('SAMLRequest') ?? '');
    if (requestId === null) return reply.code(400).send('This is not a request of the portal.');
    return sendPage(
      reply,
      providerPage(
        look,
        'Who are you?',
        html`<p class="lede">No password here: pick an account.</p>
<form method="post"><input type="hidden" name="request" value="${requestId}"><input type="hidden" name="state" value="${query.get('RelayState') ?? ''}">
${peopleButtons(people)}
<button class="button quiet" name="cancel" value="yes">Cancel</button>
${behaviourChoice(behaviour.current, ['right', 'audience', 'expired', 'slow'])}</form>`,
      ),
    );
  });

  app.post('/sign-on', async (request, reply) => {
    const form = formOf(request);
    const chosen = form.get('behaviour');
    const how = isBehaviour(chosen) ? chosen : behaviour.current;
    const requestId = form.get('request') || null;
    const common = { privateKey, certificate, entityId, acs, audience, requestId, now: new Date() };
    if (form.has('cancel')) return sendAnswer(reply, refusal(common), form.get('state'));
    if (how === 'slow') await pause(slowness);
    const email = form.get('person') ?? '';
    const person = people.find((one) => one.email === email);
    const attributes = { email: [email], displayName: person ? [person.name] : [], groups: person?.groups ?? [] };
    const statement = { ...common, now: new Date(), email, attributes, behaviour: how };
    return sendAnswer(reply, signedResponse(statement), form.get('state'));
  });

  app.get('/', (request, reply) =>
    sendPage(
      reply,
      providerPage(
        look,
        'A SAML provider',
        html`<p class="lede">Choose how it answers, then sign in at the portal by single sign-on.</p>
${switchForm(behaviour.current, request.url === savedPage)}
<h2>Begin here</h2>
<p class="lede">As from a company’s page of applications: the portal has asked for nothing, and lets the person confirm.</p>
<form method="post" action="/sign-on"><button class="button quiet" name="person" value="faye@fir.example">Open the hub as faye@fir.example</button></form>`,
      ),
    ),
  );
  app.post('/', (request, reply) => {
    const chosen = formOf(request).get('behaviour');
    if (isBehaviour(chosen)) behaviour.current = chosen;
    return reply.redirect(savedPage, 303);
  });

  /** The browser carries the answer to the portal in a form; without JavaScript, by a press. */
  function sendAnswer(reply: FastifyReply, xml: string, state: string | null): FastifyReply {
    const relayState: Html | null = state ? html`<input type="hidden" name="RelayState" value="${state}">` : null;
    return sendPage(
      reply,
      providerPage(
        look,
        'One moment',
        html`<form method="post" action="${acs}"><input type="hidden" name="SAMLResponse" value="${Buffer.from(xml).toString('base64')}">${relayState}
<button class="button">Continue</button></form><script src="/post.js"></script>`,
      ),
    );
  }

  const server = await listen(app, place);
  const page = `${place.origin(server.port, '127.0.0.1')}/`;
  const entityId = `${page}metadata`;
  const signOnUrl = `${page}sign-on`;
  return { entityId, signOnUrl, certificate, page, behaviour, close: server.close };
}

/** The ID of a request by redirect; null if it is none. */
function requestIdOf(packed: string): string | null {
  try {
    const xml = inflateRawSync(Buffer.from(packed, 'base64'), { maxOutputLength: 64 * 1024 }).toString();
    return /<\w+:AuthnRequest\s[^>]*\bID="([\w.-]+)"/.exec(xml)?.[1] ?? null;
  } catch {
    return null;
  }
}
