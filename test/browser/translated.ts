/**
 * Rewrites the page as a translator in the browser does, now and whenever it changes: each text node is replaced by
 * elements with a text of their own, which say the same here. Runs in the page.
 */
export function translate(): void {
  const skipped = 'script, style, noscript, textarea, [translate=no], font';
  const replaceTexts = (root: Node) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const texts: Text[] = [];
    while (walker.nextNode()) texts.push(walker.currentNode as Text);
    for (const text of texts) {
      if (!text.data.trim() || text.parentElement?.closest(skipped)) continue;
      const [outer, inner] = [document.createElement('font'), document.createElement('font')];
      inner.append(text.data);
      outer.append(inner);
      text.replaceWith(outer);
    }
  };
  replaceTexts(document.body);
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes)
      for (const node of target.nodeType === Node.TEXT_NODE ? [target] : addedNodes) {
        const parent = node.parentNode;
        if (parent) replaceTexts(node.nodeType === Node.TEXT_NODE ? parent : node);
      }
  }).observe(document.body, { childList: true, characterData: true, subtree: true });
}
