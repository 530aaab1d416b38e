import type { Brand } from '../brand/brand.ts';
import type { Brands } from './brands.ts';

/**
 * The brand in which somebody is written to: that of their only customer; with several, that of the page on which they
 * asked, if it is one of theirs. Otherwise the installation's: a link can make a page look like any customer's, but no
 * email.
 */
export function brandOfReader(brands: Brands, customers: readonly string[], asked: string | null | undefined): Brand {
  const [only] = customers;
  const key = customers.length === 1 ? only : customers.find((one) => one === asked);
  return (key !== undefined && brands.ofCustomer(key)) || brands.own;
}
