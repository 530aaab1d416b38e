import { randomBytes, randomUUID } from 'node:crypto';
import { html } from '../html.ts';
import { demoApp, formOf, listen, sendPage } from '../start-server.ts';
import type { OpenIdState, Visit } from './openid-endpoints.ts';
import { addOpenIdEndpoints } from './openid-endpoints.ts';
import {
  behaviourChoice,
  isBehaviour,
  type ProviderOptions,
  peopleButtons,
  providerPage,
  savedPage,
  switchForm,
} from './provider-pages.ts';

export type OpenIdProvider = Pick<OpenIdState, 'issuer' | 'behaviour' | 'secrets'> & {
  /** Its own page, where faults are switched. */
  page: string;
  close: () => Promise<void>;
};

/**
 * A small OpenID provider that can also answer wrongly, which a real one cannot be told to. It asks for no password and keeps
 * no session: whoever comes picks an account.
 */
export async function startOpenIdProvider(
  options: ProviderOptions & { clients: readonly string[] },
): Promise<OpenIdProvider> {
  const { look, portal, place, people } = options;
  const secrets = new Map(options.clients.map((client) => [client, randomBytes(32).toString('base64url')]));
  const state: OpenIdState = { issuer: '', behaviour: { current: 'right' }, secrets, people, codes: new Map() };
  const visits = new Map<string, Visit>();
  const app = demoApp(place);
  await addOpenIdEndpoints(app, state);
  app.get('/look.css', (_request, reply) => reply.type('text/css').send(options.css()));

  app.get('/authorize', (request, reply) => {
    const asked = new URL(request.url, state.issuer).searchParams;
    const client = asked.get('client_id') ?? '';
    const redirectUri = `${portal}/authenticate/oidc/callback/${client}`;
    if (!secrets.has(client) || asked.get('redirect_uri') !== redirectUri)
      return reply.code(400).send('This application is not registered here.');
    const visit = randomUUID();
    visits.set(visit, { asked, client });
    const content = html`<p class="lede">No password here: pick an account.</p>
<form method="post" action="/sign-in"><input type="hidden" name="visit" value="${visit}">
${peopleButtons(people, asked.get('login_hint') ?? '')}
<button class="button quiet" name="cancel" value="yes">Cancel</button>
${behaviourChoice(state.behaviour.current, ['right', 'audience', 'expired', 'slow'])}</form>`;
    return sendPage(reply, providerPage(look, 'Who are you?', content));
  });

  app.post('/sign-in', (request, reply) => {
    const form = formOf(request);
    const visit = visits.get(form.get('visit') ?? '');
    visits.delete(form.get('visit') ?? '');
    // Back and a second choice: the portal begins another visit.
    if (!visit) return reply.redirect(`${portal}/singleSignOn`, 303);
    const answer = new URL(visit.asked.get('redirect_uri') as string);
    answer.searchParams.set('state', visit.asked.get('state') ?? '');
    answer.searchParams.set('iss', state.issuer);
    if (form.has('cancel')) {
      answer.searchParams.set('error', 'access_denied');
      answer.searchParams.set('error_description', 'The person pressed cancel');
      return reply.redirect(answer.href, 303);
    }
    const chosen = form.get('behaviour');
    const behaviour = isBehaviour(chosen) ? chosen : state.behaviour.current;
    const code = randomUUID();
    state.codes.set(code, { ...visit, email: form.get('person') ?? '', behaviour });
    answer.searchParams.set('code', code);
    return reply.redirect(answer.href, 303);
  });

  app.get('/sign-out', (request, reply) => {
    const backTo = new URL(`${portal}/login`);
    const portalState = new URL(request.url, state.issuer).searchParams.get('state');
    if (portalState !== null) backTo.searchParams.set('state', portalState);
    const content = html`<p class="lede">The portal signed you out and sent you on, so that this provider forgets you as well.</p>
<div class="stack"><a class="button" href="${backTo.href}">Back to the portal</a></div>`;
    return sendPage(reply, providerPage(look, 'Signed out here too', content));
  });

  app.get('/', (request, reply) => {
    const content = html`<p class="lede">Choose how it answers, then sign in at the portal by single sign-on.</p>
${switchForm(state.behaviour.current, request.url === savedPage)}
<p class="after"><a href="${portal}/singleSignOn">To single sign-on</a></p>`;
    return sendPage(reply, providerPage(look, 'An OpenID provider', content));
  });
  app.post('/', (request, reply) => {
    const chosen = formOf(request).get('behaviour');
    if (isBehaviour(chosen)) state.behaviour.current = chosen;
    return reply.redirect(savedPage, 303);
  });

  const server = await listen(app, place);
  // By address: to a browser another site than the portal on localhost, as a real provider is.
  state.issuer = place.origin(server.port, '127.0.0.1');
  const { issuer, behaviour } = state;
  return { issuer, behaviour, secrets, page: `${issuer}/`, close: server.close };
}
