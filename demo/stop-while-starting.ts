/**
 * Until the portal runs, and stops on signals itself, a signal only breaks off what is starting. `isOver` gives the
 * signals back.
 */
export function stopWhileStarting(): { signal: AbortSignal; isOver: () => void } {
  const starting = new AbortController();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const breakOff = () => starting.abort();
  for (const signal of signals) process.on(signal, breakOff);
  return {
    signal: starting.signal,
    isOver: () => {
      for (const signal of signals) process.removeListener(signal, breakOff);
    },
  };
}
