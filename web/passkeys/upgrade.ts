import { type CreationOptions, createPasskey } from './make-passkey.ts';
import { tellUnknown } from './signals.ts';

/** Browsers that make one do so at once; until it is over, no other ceremony of the page may begin. */
const patience = 10_000;

/** The tag by which a page lets the browser make a passkey (docs/passkeys.md); its script says there what was begun. */
const tag = 'script[src$="/passkeys/upgrade.js"]';

type Capabilities = { getClientCapabilities?: () => Promise<Record<string, boolean>> };

/** On a page that asks for it: goes on once that script has run, which may be after this one. */
export function startUpgrade(): void {
  const script = document.querySelector<HTMLScriptElement>(tag);
  script?.addEventListener('load', () => upgrade(script));
}

/**
 * After a sign-in by password: has the browser make a passkey by itself, where it can (`conditionalCreate`, Web Authentication
 * Level 3, §5.1.3). It shows nothing, and nothing waits for it.
 */
async function upgrade({ src, dataset: { begun } }: HTMLScriptElement): Promise<void> {
  if (!begun || typeof PublicKeyCredential === 'undefined') return;
  try {
    if (!(await (PublicKeyCredential as Capabilities).getClientCapabilities?.())?.conditionalCreate) return;
    const options = JSON.parse(begun) as CreationOptions;
    const over = new AbortController();
    setTimeout(() => over.abort(), patience);
    const made = await createPasskey(options, { mediation: 'conditional', signal: over.signal });
    const stored = await fetch(src.slice(0, -'.js'.length), {
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
