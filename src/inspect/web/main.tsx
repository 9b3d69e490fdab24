import { render } from 'preact';
import { Start } from './shell/start.tsx';
import { reloadOnNewKey } from './server/page-session.ts';

const place = document.getElementById('app');
if (place === null) throw new Error('the page is not whole');
reloadOnNewKey();
render(<Start />, place);
