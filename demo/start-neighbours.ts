import { randomBytes } from 'node:crypto';
import type { Closings } from './closings.ts';
import { startHub } from './hub/start-hub.ts';
import type { Looks } from './looks.ts';
import { connections, peopleAt } from './people.ts';
import { hubName } from './portal-config.ts';
import { type OpenIdProvider, startOpenIdProvider } from './providers/openid-provider.ts';
import { type SamlProvider, startSamlProvider } from './providers/saml-provider.ts';

/** What a portal has around it: the hub behind it and the providers of its customers. */
export type Neighbours = { hub: { port: number; secret: string }; oidc: OpenIdProvider; saml: SamlProvider };

type Addresses = { startPage: string; portal: string };

/** Starts the hub and both providers. `looks` is read when a page is asked for. */
export async function startNeighbours(
  { startPage, portal }: Addresses,
  looks: () => Looks,
  closings: Closings,
): Promise<Neighbours> {
  const secret = randomBytes(32).toString('base64url');
  const closedLater = async <Started extends { close: () => Promise<void> }>(starting: Promise<Started>) => {
    const started = await starting;
    closings.push(started.close);
    return started;
  };
  // At once, since each provider makes a key of its own.
  const [hub, oidc, saml] = await Promise.all([
    closedLater(startHub({ name: hubName, startPage }, () => looks().hub, secret)),
    closedLater(
      startOpenIdProvider({
        look: { name: 'Elmwood Identity', mark: 'E', startPage },
        css: () => looks().oidc,
        clients: connections.filter(({ protocol }) => protocol === 'oidc').map(({ key }) => key),
        people: peopleAt.oidc,
        portal,
      }),
    ),
    closedLater(
      startSamlProvider({
        look: { name: 'Firwood Directory', mark: 'F', startPage },
        css: () => looks().saml,
        people: peopleAt.saml,
        portal,
      }),
    ),
  ]);
  return { hub: { port: hub.port, secret }, oidc, saml };
}
