import type { Lemonldap } from './lemonldap-for-test.ts';

/** What a browser brings back from LemonLDAP::NG: an address, and the form to post there, if any. */
type BroughtBack = { url: URL; form: Record<string, string> };

/** A browser without JavaScript at LemonLDAP::NG. It stays signed in there. */
export class LemonldapVisitor {
  readonly #provider: Pick<Lemonldap, 'origin'>;
  readonly #name: string;
  readonly #cookies = new Map<string, string>();

  /** A person by name, which is also the password. */
  constructor(provider: Pick<Lemonldap, 'origin'>, name: string) {
    this.#provider = provider;
    this.#name = name;
  }

  /** Follows an address, fills in what is asked and consents, or `refuses`, until it is redirected elsewhere. */
  async visit(start: string, { refuses = false } = {}): Promise<BroughtBack> {
    let url = new URL(start);
    let form: Record<string, string> | null = null;
    for (let pages = 0; pages < 12; pages += 1) {
      if (url.origin !== this.#provider.origin) return { url, form: form ?? {} };
      const answer: Response = await this.#send(url, form);
      const location = answer.headers.get('location');
      const next = location ? { action: location, fields: null } : formOn(await answer.text());
      if (!next) throw new Error(`LemonLDAP::NG answers ${answer.status} at ${url.href}`);
      url = new URL(next.action || url, url);
      form = next.fields && this.#filled(next.fields, refuses);
    }
    throw new Error(`LemonLDAP::NG leads in circles: ${url.href}`);
  }

  #filled(fields: Record<string, string>, refuses: boolean): Record<string, string> {
    if ('password' in fields) return { ...fields, user: this.#name, password: this.#name };
    // What its script does before it sends the form.
    if ('confirm' in fields && refuses) return { ...fields, confirm: `-${fields.confirm}` };
    return fields;
  }

  async #send(url: URL, form: Record<string, string> | null): Promise<Response> {
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    return answer;
  }
}

/** The form of a page: the first one that posts or has fields. */
function formOn(page: string): { action: string; fields: Record<string, string> } | null {
  const [, attributes = '', inside] = /<form([^>]*)>([\s\S]*?)<\/form>/.exec(page) ?? [];
  if (inside === undefined) return null;
  const fields: Record<string, string> = {};
  for (const [input] of inside.matchAll(/<input[^>]*>/g)) {
    const name = attribute(input, 'name');
    if (name && attribute(input, 'type') !== 'checkbox') fields[name] = attribute(input, 'value');
  }
  return { action: attribute(attributes, 'action'), fields };
}

function attribute(tag: string, name: string): string {
  const [, value = ''] = new RegExp(`\\s${name}="([^"]*)"`).exec(tag) ?? [];
  return value.replaceAll('&#x2B;', '+').replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
}
