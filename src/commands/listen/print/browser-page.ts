/** The page for a person who opens the receiver's address in a browser. The empty icon spares a second request. */
export const browserPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>leads listen</title>
<link rel="icon" href="data:,">
<h1>This is a receiver of leads</h1>
<p>It takes <code>POST</code> requests with a lead in JSON, from the service that knows its token or secret.</p>
<p>There is nothing to see in a browser: the terminal that runs <code>leads listen</code> shows what arrives.</p>
</html>
`;
