import { type CreationOptions, createPasskey } from './make-passkey.ts';
import { tellUnknown } from './signals.ts';

/** Browsers that make one do so at once; until it is over, no other ceremony of the page may begin. */
const patience = 10_000;

/** The tag by which a page lets the browser make a passkey (docs/passkeys.md). */
const tag = 'script[src$="/passkeys/upgrade.js"]';

type Capabilities = { getClientCapabilities?: () => Promise<Record<string, boolean>> };

/**
 * On a page that asks for it, after a sign-in by password: has the browser make a passkey by itself, where it can
 * (`conditionalCreate`, Web Authentication Level 3, §5.1.3). It shows nothing, and nothing waits for it.
 */
export async function upgrade(): Promise<void> {
  const source = document.querySelector<HTMLScriptElement>(tag)?.src;
  if (!source || typeof PublicKeyCredential === 'undefined') return;
  const url = source.slice(0, -'.js'.length);
  try {
    if (!(await (PublicKeyCredential as Capabilities).getClientCapabilities?.())?.conditionalCreate) return;
    const begun = await fetch(`${url}/options`, { method: 'POST', headers: { accept: 'application/json' } });
    if (begun.status !== 200) return;
    const options = (await begun.json()) as CreationOptions;
    const over = new AbortController();
    setTimeout(() => over.abort(), patience);
    const made = await createPasskey(options, { mediation: 'conditional', signal: over.signal });
    const stored = await fetch(url, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams({ credential: JSON.stringify(made) }),
    });
    // After a failure of the server it may be stored all the same.
    const isRefused = stored.status >= 400 && stored.status < 500;
    if (isRefused) tellUnknown({ rpId: options.rp.id ?? location.hostname, credentialId: made.id });
  } catch {
    // Nobody has asked for a passkey: a browser that makes none, as without a saved password, is nobody's concern.
  }
}
