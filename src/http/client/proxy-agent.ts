// Loaded only where the environment names a proxy, since it loads the SOCKS client as well.
import connect from 'undici/lib/api/api-connect.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';

// undici adds this method to its dispatchers in its index, which is not loaded; tunnels are opened with it.
Dispatcher.prototype.connect = connect;

export default ProxyAgent;
