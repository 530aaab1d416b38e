import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { runsAll } from '#test/support/runs-all.ts';

// Timeouts for hangs, not measurements: a busy machine takes several times as long as an idle one.
const deadlines = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } };

// `npm run test:all` runs `*.all.test.ts` too.
const exclude = runsAll ? [] : ['**/*.all.test.ts'];

const pages = ['contract/**/*.test.ts', 'web/**/*.test.{ts,tsx}'];
const server = ['server/**/*.test.ts', 'cli/**/*.test.ts'];
// Each builds a machine, an image or a package, which takes both cores: after all others.
const installed = ['server/deploy-{image,machine}.all.test.ts', 'server/package.all.test.ts'];

// Files share a worker and load the product once, which halves the run; those that replace a module have
// their own.
const alone = globSync(server, { exclude }).filter((path) => readFileSync(path, 'utf8').includes('vi.mock('));

// Node itself loads the server's files, as it does in production; only replacing modules needs Vite.
const asNodeLoads = { viteModuleRunner: false, nodeLoader: false };

export default defineConfig({
  test: {
    // More than cores: each waits for the database, processes and deadlines a third of its time.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    setupFiles: ['test/support/fuzzing.ts'],
    globalSetup: ['test/support/database-server.ts'],
    projects: [
      {
        oxc: { jsx: { runtime: 'automatic' } },
        test: { name: 'pages', include: pages, exclude, isolate: false, ...deadlines },
      },
      {
        test: {
          name: 'server',
          include: server,
          exclude: [...exclude, ...alone, ...installed],
          isolate: false,
          experimental: asNodeLoads,
          ...deadlines,
        },
      },
      { test: { name: 'server, alone', include: alone, ...deadlines } },
      {
        test: {
          name: 'installed',
          include: installed,
          exclude,
          isolate: false,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
          experimental: asNodeLoads,
          ...deadlines,
        },
      },
    ],
  },
});
