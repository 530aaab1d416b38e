import type { Brand } from '../brand/brand.ts';

/** The brands that this process knows: those of customers change while it runs. */
export type Brands = {
  own: Brand;
  /** By the key of a customer that has a brand. */
  ofCustomer: (key: string) => Brand | null;
  /** By a Host header, with its port if it has one. */
  ofHost: (host: string) => Brand | null;
  /** All of them, the installation's first. */
  all: () => readonly Brand[];
  /** Reads the customers' brands again, if any has changed. */
  refresh: () => Promise<void>;
};
