-- Run by the superuser in the database of the inbox, before its first `leads inbox migrate` by leads_owner.
\set owner `cat /run/secrets/owner`
\set receiver `cat /run/secrets/receiver`
CREATE ROLE leads_owner LOGIN PASSWORD :'owner';
CREATE ROLE leads_receiver LOGIN PASSWORD :'receiver';
REVOKE ALL ON DATABASE leads FROM PUBLIC;
GRANT CONNECT, CREATE ON DATABASE leads TO leads_owner;
GRANT CONNECT ON DATABASE leads TO leads_receiver;
-- Of whatever a migration makes, now and later.
ALTER DEFAULT PRIVILEGES FOR ROLE leads_owner GRANT USAGE ON SCHEMAS TO leads_receiver;
ALTER DEFAULT PRIVILEGES FOR ROLE leads_owner GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO leads_receiver;
ALTER DEFAULT PRIVILEGES FOR ROLE leads_owner GRANT USAGE, SELECT ON SEQUENCES TO leads_receiver;
