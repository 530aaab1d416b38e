import type { DeskPageRoom } from './desk-page.ts';

/** The first page: whom or what to look for. */
export const search: DeskPageRoom<true> = {
  path: '',
  find: async () => true,
  target: () => null,
  kept: [],
  acts: {},
  view: async (_deps, { query }) => ({
    name: 'search',
    text: query.q ?? '',
    people: [],
    customers: [],
    references: [],
  }),
};
