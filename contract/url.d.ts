// The two web standards shared by browsers and Node that this folder uses; its types know neither DOM nor Node.
declare class URL {
  constructor(address: string, base?: string);
  readonly origin: string;
  readonly href: string;
  readonly hostname: string;
  readonly username: string;
  readonly password: string;
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
}
declare class URLSearchParams {
  constructor(init?: string | readonly (readonly [string, string])[]);
  get(name: string): string | null;
  toString(): string;
}
