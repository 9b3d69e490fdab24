// Loaded only where the environment names a proxy: it brings SOCKS along.
import connect from 'undici/lib/api/api-connect.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';

// undici gives its dispatchers this method in its index, which is not loaded; tunnels are opened with it.
Dispatcher.prototype.connect = connect;

export default ProxyAgent;
