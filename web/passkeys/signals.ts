type Known = { rpId: string; userId: string; allAcceptedCredentialIds: string[]; name: string };
type Unknown = { rpId: string; credentialId: string };

/** What browsers have of the Signal API (Web Authentication Level 3, §5.1.10): some of it, all of it, or nothing. */
type Signals = {
  signalAllAcceptedCredentials?: (known: Omit<Known, 'name'>) => Promise<void>;
  signalCurrentUserDetails?: (user: {
    rpId: string;
    userId: string;
    name: string;
    displayName: string;
  }) => Promise<void>;
  signalUnknownCredential?: (unknown: Unknown) => Promise<void>;
};

/** Tells what keeps passkeys which of this user are left, so that removed ones vanish there too, and how the user is called now. */
export function tellManagers({ rpId, userId, allAcceptedCredentialIds, name }: Known): void {
  tell(async (signals) => {
    await signals.signalAllAcceptedCredentials?.({ rpId, userId, allAcceptedCredentialIds });
    await signals.signalCurrentUserDetails?.({ rpId, userId, name, displayName: name });
  });
}

/** Tells what keeps a passkey that nobody here knows it, so that it is offered no more. */
export function tellUnknown(unknown: Unknown): void {
  tell(async (signals) => await signals.signalUnknownCredential?.(unknown));
}

/** On the page of a refusal: tells it of the passkey that the server names there. */
export function reportUnknown(): void {
  const unknown = document.querySelector<HTMLElement>('script[data-unknown]')?.dataset.unknown;
  if (unknown) tellUnknown(JSON.parse(unknown));
}

/** A failure is ignored: the list of a manager is its own, nobody has asked for this, and the next page says it again. */
function tell(say: (signals: Signals) => Promise<void>): void {
  if (typeof PublicKeyCredential !== 'undefined') say(PublicKeyCredential as Signals).catch(() => {});
}
