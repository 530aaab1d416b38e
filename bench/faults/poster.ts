/** What a browser learns from the answer to a form. */
export type Answer = {
  status: number;
  location: string;
  /** The session's, as it is sent back. */
  cookie: string;
  body: string;
  /** 503 with Retry-After: whoever asked knows that nothing happened, and when to ask again. */
  isRefusal: boolean;
};

type Posted = { form?: Record<string, string>; json?: string; cookie?: string };

/** In milliseconds. */
const patience = 60_000;

/** Posts forms, or strings as a script does, to a portal; throws if there is no answer. */
export function poster(origin: string) {
  return async (path: string, { form, json, cookie = '' }: Posted): Promise<Answer> => {
    const response = await fetch(`${origin}/portal/${path}`, {
      method: 'POST',
      headers: { origin, cookie, ...(json && { 'content-type': 'application/json', accept: 'application/json' }) },
      body: form ? new URLSearchParams(form) : JSON.stringify(json),
      redirect: 'manual',
      signal: AbortSignal.timeout(patience),
    });
    const { status, headers } = response;
    const session = headers.getSetCookie().find((one) => one.startsWith('vestibule-session='));
    return {
      status,
      location: headers.get('location') ?? '',
      cookie: session?.split(';')[0] ?? '',
      body: await response.text(),
      isRefusal: status === 503 && headers.has('retry-after'),
    };
  };
}
