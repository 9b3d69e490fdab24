/** The package's version, put in by the build. */
declare const LEADS_VERSION: string;
