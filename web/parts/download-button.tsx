import { useMessage } from '../messages.tsx';
import { fileName } from './file-name.ts';
import { Icon } from './icon.tsx';
import { laterShapes } from './later-shapes.tsx';

/** Saves a text as a file made in the page, without a request to the server. */
export function DownloadButton({ name, text }: { name: string; text: string }) {
  const message = useMessage();

  function download() {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
    link.download = fileName(name);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), longestStart);
  }

  return (
    <button className="button quiet small" type="button" onClick={download}>
      <Icon shape={laterShapes.download} size={18} />
      {message('download')}
    </button>
  );
}

/** Browsers that ask where to save read the file only then. */
const longestStart = 60_000;
