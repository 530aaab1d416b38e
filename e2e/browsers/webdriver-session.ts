type Answer = { value: unknown };
type Refusal = { value: { error: string; message: string } };

/** A session of classic WebDriver (https://www.w3.org/TR/webdriver2/). */
export class WebdriverSession {
  readonly #address: string;

  private constructor(address: string) {
    this.#address = address;
  }

  /** Begins a session, with a browser of its own, at a driver that may still be starting. */
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

/** Sends a command; throws with the driver's reason. */
async function request(address: string, method: string, parameters?: object): Promise<unknown> {
  const response = await fetch(address, { method, ...(parameters && { body: JSON.stringify(parameters) }) });
  const answer = (await response.json()) as Answer | Refusal;
  if (response.ok) return answer.value;
  const { error, message } = (answer as Refusal).value;
  throw new Error(`${new URL(address).pathname.replace(/.*[/]/, '')}: ${error}: ${message}`);
}
