export { styles } from '../account/document-behind.tsx';
export { renderAccount } from '../account/render-account.tsx';
export { renderDesk } from './render-desk.tsx';
