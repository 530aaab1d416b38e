import { buildStalePages } from '#server/build-pages.ts';

// Before the tests, so that two portals that start at once do not both build.
await buildStalePages();
