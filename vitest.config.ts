import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        oxc: { jsx: { runtime: 'automatic' } },
        test: { name: 'pages', include: ['contract/**/*.test.ts', 'web/**/*.test.{ts,tsx}'] },
      },
      {
        test: {
          name: 'server',
          include: ['server/**/*.test.ts'],
          globalSetup: ['server/testing/database-server.ts'],
          testTimeout: 20_000,
          hookTimeout: 30_000,
        },
      },
    ],
  },
});
