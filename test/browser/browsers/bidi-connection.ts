import { once } from 'node:events';

type Answer = { type: 'success' | 'error' | 'event'; id?: number } & Record<string, unknown>;
type Waiting = { resolve: (result: unknown) => void; reject: (error: Error) => void; method: string };

/** A session of WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/), on Node's own WebSocket. */
export class BidiConnection {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners: ((method: string, params: Record<string, unknown>) => void)[] = [];
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(data)));
    socket.addEventListener('close', () => this.#end());
  }

  /** Connects to a browser that listens, and begins the session. */
  static async open(url: string): Promise<BidiConnection> {
    const socket = new WebSocket(`${url}/session`);
    await once(socket, 'open');
    const connection = new BidiConnection(socket);
    await connection.send('session.new', { capabilities: {} });
    return connection;
  }

  /** Sends a command; rejects with the browser's reason. */
  async send<Result = void>(method: string, params: object = {}): Promise<Result> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject, method }));
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ id, method, params }));
    else this.#end();
    return (await answer) as Result;
  }

  /** Calls back for each event that the session is subscribed to. */
  listen(listener: (method: string, params: Record<string, unknown>) => void): void {
    this.#listeners.push(listener);
  }

  #receive({ type, id, ...message }: Answer): void {
    if (type === 'event') {
      for (const listener of this.#listeners)
        listener(String(message.method), message.params as Record<string, unknown>);
      return;
    }
    const waiting = this.#waiting.get(id ?? 0);
    this.#waiting.delete(id ?? 0);
    if (type === 'success') waiting?.resolve(message.result);
    else waiting?.reject(new Error(`${waiting.method}: ${message.error}: ${message.message}`));
  }

  #end(): void {
    for (const { reject, method } of this.#waiting.values()) reject(new Error(`${method}: the browser has ended`));
    this.#waiting.clear();
  }
}
