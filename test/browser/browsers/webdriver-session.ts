type Answer = { value: unknown };
type Refusal = { value: { error: string; message: string } };

/** A session of classic WebDriver (https://www.w3.org/TR/webdriver2/). */
export class WebdriverSession {
  readonly #address: string;

  private constructor(address: string) {
    this.#address = address;
  }

  /** Begins a session, with a browser of its own, at a driver. */
  static async open(driver: string, capabilities: object): Promise<WebdriverSession> {
    const { sessionId } = (await request(`${driver}/session`, 'POST', {
      capabilities: { alwaysMatch: capabilities },
    })) as {
      sessionId: string;
    };
    return new WebdriverSession(`${driver}/session/${sessionId}`);
  }

  async get<Result>(command: string): Promise<Result> {
    return (await request(`${this.#address}/${command}`, 'GET')) as Result;
  }

  async post<Result = void>(command: string, parameters: object): Promise<Result> {
    return (await request(`${this.#address}/${command}`, 'POST', parameters)) as Result;
  }

  async end(): Promise<void> {
    await request(this.#address, 'DELETE');
  }
}

/** In milliseconds. A driver that lost its browser would never answer. */
const patience = 25_000;

/** Sends a command; throws with the driver's reason. */
async function request(address: string, method: string, parameters?: object): Promise<unknown> {
  const body = parameters && JSON.stringify(parameters);
  const response = await fetch(address, { method, signal: AbortSignal.timeout(patience), ...(body && { body }) });
  const answer = (await response.json()) as Answer | Refusal;
  if (response.ok) return answer.value;
  const { error, message } = (answer as Refusal).value;
  throw new Error(`${new URL(address).pathname.replace(/.*[/]/, '')}: ${error}: ${message}`);
}
